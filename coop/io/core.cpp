#include "core.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop::io::detail {

using coop::detail::strand_block;
using coop::detail::wake_reason;

bool ends_soon(int fd) noexcept {
  struct stat status;
  return fstat(fd, &status) == 0 && (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode));
}

core::core(scheduler& on, std::unique_ptr<io::engine> engine, std::string choice,
           bool sockets_by_epoll, std::string socket_choice)
    : scheduler_(&on),
      engine_(std::move(engine)),
      choice_(std::move(choice)),
      socket_choice_(std::move(socket_choice)),
      sockets_by_epoll_(sockets_by_epoll) {
  scheduler_access::attach(on, *this);
}

void core::allow_sockets() {
  if (!sockets_by_epoll_ || sockets_ != nullptr || stopped()) return;
  sockets_ = std::make_unique<epoll_engine>(engine_->fd());
  // The engine's descriptor does not report operations that ended before epoll watched it.
  engine_->collect(*this, duration::zero());
}

void core::stop() noexcept {
  // The engine lets go of everything first: only then may memory and descriptors be freed.
  for (operation* each = oldest_; each != nullptr;) {
    operation* const newer = each->newer;  // this one may be over, and gone, at once
    if (each->what != verb::close) cancel(*each);
    each = newer;
  }
  while (oldest_ != nullptr) collect(std::nullopt);
  sockets_.reset();
  engine_.reset();
  if (scheduler_ != nullptr) scheduler_access::detach(*scheduler_, *this);
}

void core::start(operation& wanted, strand_block& self) {
  if (self.owner != scheduler_) {
    coop::detail::fatal(
        "a strand awaits I/O of another scheduler's io::service; each scheduler needs its own");
  }
  coop::detail::wait_in(self, wanted.node, wanted);
  if (stopped()) [[unlikely]] {
    wanted.error = EBADF;
    scheduler_access::wake(wanted.node);
    return;
  }
  wanted.in_flight = true;
  wanted.older = newest_;
  (newest_ != nullptr ? newest_->newer : oldest_) = &wanted;
  newest_ = &wanted;
  file_state& file = *wanted.file.get();
  wanted.prompt = file.prompt;
  count_in(wanted);
  files_in_flight_ += file.polled ? 0 : 1;
  wanted.fd = file.fd;
  at_once_ = 0;
  if (wanted.what == verb::close) {
    file.fd = -1;  // the number is the kernel's again, whatever close() says
    if (file.in_flight != 0) {
      file.closer = &wanted;
      if (file.polled) cancel_all(file);
      return;
    }
  }
  ++file.in_flight;
  if (wanted.what == verb::connect) {
    begin_connect(wanted);
  } else {
    submit(wanted);
  }
}

void core::submit(operation& ready) noexcept {
  if (ready.file->polled && ready.what == verb::close) {
    ended_.push(ready);
    return;
  }
  if (ready.file->polled && sockets_ != nullptr) {
    ready.taken = sockets_->start(ready);  // which always has room
    return;
  }
  if (!backlog_.empty() || !engine_->start(ready)) {
    backlog_.push(ready);
  } else {
    ready.taken = true;
  }
}

// The strand's wait is over time or cancelled, but it stays until the kernel has let go.
void core::give_up(operation& unwanted) {
  strand_block& self = *unwanted.node.who;
  coop::detail::wait_in(self, unwanted.node, unwanted);
  if (std::exchange(unwanted.cancel_asked, true) || unwanted.what == verb::close) return;
  cancel(unwanted);
}

void core::cancel(operation& unwanted) noexcept {
  unwanted.cancel_asked = true;
  if (unwanted.taken) {
    (unwanted.file->polled && sockets_ != nullptr ? *sockets_ : *engine_).cancel(unwanted);
  } else if (backlog_.remove(unwanted)) {
    complete(unwanted, -ECANCELED);
  } else if (starved_.remove(unwanted) || resolver_.cancel(unwanted)) {
    ended_.push(unwanted);
  }
}

// Cancels the operations on a socket that is closed: their data may never come.
void core::cancel_all(file_state& file) noexcept {
  for (operation* each = oldest_; each != nullptr;) {
    operation* const newer = each->newer;  // this one may be over, and gone, at once
    if (each->file.get() == &file && each->what != verb::close && !each->cancel_asked) {
      cancel(*each);
    }
    each = newer;
  }
}

void core::abandon(operation& unwanted) noexcept {
  unwanted.abandoned = true;
  count_out(unwanted);
  // A strand that is destroyed has left its wait already.
  if (!unwanted.empty()) unwanted.remove(unwanted.node);
  if (unwanted.what != verb::close) cancel(unwanted);
}

void core::complete(operation& over, long outcome) noexcept {
  over.taken = false;
  if (over.moves_bytes() && outcome >= 0) [[likely]] {
    count_bytes(over, outcome);
    if (over.whole && over.done < over.size && !is_enough(over, outcome)) {
      submit(over);
      return;
    }
  } else if (outcome == -EINTR && over.what != verb::close && !over.cancel_asked) {
    submit(over);
    return;
  } else if (outcome < 0 && over.file->polled && goes_on(over, static_cast<int>(-outcome))) {
    return;
  } else {
    take_outcome(over, outcome);
  }
  finish(over);
}

// Whether a transfer that is to be whole, and is not, ends all the same.
bool core::is_enough(operation& over, long outcome) noexcept {
  if (outcome > 0) {
    if (over.cancel_asked) over.error = ECANCELED;
    return over.cancel_asked;
  }
  // The end of the file; or nothing was written, and nothing is wrong: it would never end.
  if (over.what == verb::write) over.error = EIO;
  return true;
}

void core::take_outcome(operation& over, long outcome) noexcept {
  if (outcome < 0) {
    over.error = static_cast<int>(-outcome);
    // Interrupted, or about to be tried again.
    if (over.error == EINTR || (over.error == EAGAIN && over.cancel_asked)) over.error = ECANCELED;
  } else if (over.what == verb::size) {
    struct statx status;
    std::memcpy(&status, over.data, sizeof status);
    over.done = status.stx_size;
  } else if (over.what == verb::open) {
    over.file->fd = static_cast<int>(outcome);
    over.file->prompt = ends_soon(over.file->fd);
  } else if (over.what == verb::accept) {
    over.accepted->fd = static_cast<int>(outcome);
  } else if (over.what == verb::connect) {
    over.file->fd = over.fd;
  }
  if (over.what == verb::close && over.error == ECANCELED) {
    // Interrupted, Linux has let go of the number: to try again might close another file.
    // Cancelled, it has done nothing.
    over.error = outcome == -EINTR || ::close(over.fd) == 0 ? 0 : errno;
  }
}

void core::finish(operation& over) noexcept {
  over.in_flight = false;
  (over.older != nullptr ? over.older->newer : oldest_) = over.newer;
  (over.newer != nullptr ? over.newer->older : newest_) = over.older;
  file_state& file = *over.file.get();
  files_in_flight_ -= file.polled ? 0 : 1;
  if (--file.in_flight == 0 && file.closer != nullptr) {
    operation& closer = *std::exchange(file.closer, nullptr);
    ++file.in_flight;
    submit(closer);
  }
  if (over.abandoned) {
    delete &over;
    return;
  }
  count_out(over);
  strand_block& self = *over.node.who;
  if (over.error == ECANCELED && over.done != 0 && self.reason == wake_reason::timed_out) {
    over.error = ETIME;  // part of a whole transfer, whose length nobody else knows
  }
  if (over.error != ECANCELED && self.reason != wake_reason::granted) {
    // It was over before the kernel could stop it: what is done is granted.
    self.cancel_pending |= self.reason == wake_reason::cancelled;
    self.reason = wake_reason::granted;
  }
  ++woken_;
  scheduler_access::wake(over.node);
}

void core::collect(std::optional<duration> limit) {
  at_once_ = 0;
  if (!ended_.empty()) {
    tell_ended();
    limit = duration::zero();
  }
  if (!starved_.empty()) {
    const duration left = feeding_time_ - std::chrono::steady_clock::now();
    if (left <= duration::zero()) feed_starved();
    limit = std::clamp(left, duration::zero(), limit.value_or(duration::max()));
  }
  if (sockets_ == nullptr) {
    engine_->collect(*this, limit);
  } else {
    // Collects for files first, as only that passes the operations that were started to the kernel.
    const std::size_t before = woken_;
    if (files_in_flight_ != 0) engine_->collect(*this, duration::zero());
    if (woken_ != before) limit = duration::zero();
    sockets_->collect(*this, limit);
    if (sockets_->rang()) engine_->collect(*this, duration::zero());
  }
  while (operation* const found = resolver_.next_over()) connect_next(*found);
  while (!backlog_.empty() && engine_->start(*backlog_.first())) backlog_.pop().taken = true;
}

bool core::poll() {
  const std::size_t before = woken_;
  collect(duration::zero());
  return woken_ != before;
}

void core::keep_up() {
  if (!std::exchange(waited_, false)) poll();
}

void core::wait(std::optional<time_point> limit) {
  std::optional<duration> length;
  waited_ = true;
  if (limit) length = std::max(duration::zero(), *limit - std::chrono::steady_clock::now());
  collect(length);
}

bool on_given_up(coop::detail::wait_list& list, coop::detail::wait_node&) {
  auto& unwanted = static_cast<operation&>(list);
  unwanted.file->owner->give_up(unwanted);
  return true;
}

void release(file_state* state) noexcept {
  if (--state->references != 0) return;
  core& owner = *state->owner;
  if (state->polled) {
    if (state->fd >= 0) owner.close_polled(polled(*state), state->fd);
    delete &polled(*state);
  } else {
    if (state->fd >= 0) ::close(state->fd);
    delete state;
  }
  owner.release();
}

void start(operation& wanted, coop::detail::strand_block& self) {
  wanted.file->owner->start(wanted, self);
}

void drop(operation* unwanted) noexcept {
  if (unwanted->in_flight) {
    unwanted->file->owner->abandon(*unwanted);
  } else {
    delete unwanted;
  }
}

}  // namespace heddle::coop::io::detail
