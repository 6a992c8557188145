#include "core.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace heddle::coop::io::detail {

using coop::detail::strand_block;
using coop::detail::wake_reason;

bool operation_queue::remove(operation& unwanted) noexcept {
  operation* before = nullptr;
  for (operation* each = first_; each != nullptr; before = each, each = each->next) {
    if (each != &unwanted) continue;
    (before != nullptr ? before->next : first_) = each->next;
    if (last_ == each) last_ = before;
    return true;
  }
  return false;
}

bool ends_soon(int fd) noexcept {
  struct stat status;
  return fstat(fd, &status) == 0 && (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode));
}

core::core(scheduler& on, std::unique_ptr<io::engine> engine, std::string choice)
    : scheduler_(&on), engine_(std::move(engine)), choice_(std::move(choice)) {
  on.attach(*this);
}

void core::stop() noexcept {
  // The engine lets go of everything first: only then may memory and descriptors be freed.
  for (operation* each = oldest_; each != nullptr;) {
    operation* const newer = each->newer;  // this one may be over, and gone, at once
    if (each->what != verb::close) cancel(*each);
    each = newer;
  }
  while (oldest_ != nullptr) collect(std::nullopt);
  engine_.reset();
  if (scheduler_ != nullptr) scheduler_->detach(*this);
}

void core::count(const operation& awaited, std::ptrdiff_t change) noexcept {
  awaited_ += static_cast<std::size_t>(change);
  if (awaited.prompt) prompt_ += static_cast<std::size_t>(change);
}

void core::start(operation& wanted, strand_block& self) {
  if (self.owner != scheduler_) {
    coop::detail::fatal(
        "a strand awaits file I/O of another scheduler's io::service; each scheduler needs its "
        "own");
  }
  coop::detail::wait_in(self, wanted.node, wanted);
  wanted.in_flight = true;
  wanted.older = newest_;
  (newest_ != nullptr ? newest_->newer : oldest_) = &wanted;
  newest_ = &wanted;
  file_state& file = *wanted.file.get();
  wanted.prompt = file.prompt;
  count(wanted, 1);
  wanted.fd = file.fd;
  if (wanted.what == verb::close) {
    file.fd = -1;  // the number is the kernel's again, whatever close() says
    if (file.in_flight != 0) {
      file.closer = &wanted;
      return;
    }
  }
  ++file.in_flight;
  submit(wanted);
}

void core::submit(operation& ready) noexcept {
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
    engine_->cancel(unwanted);
  } else if (backlog_.remove(unwanted)) {
    complete(unwanted, -ECANCELED);
  }
}

void core::abandon(operation& unwanted) noexcept {
  unwanted.abandoned = true;
  count(unwanted, -1);
  // A strand that is destroyed has left its wait already.
  if (unwanted.node.list != nullptr) unwanted.remove(unwanted.node);
  if (unwanted.what != verb::close) cancel(unwanted);
}

void core::complete(operation& over, long outcome) noexcept {
  over.taken = false;
  // Linux lets go of the number even then: to try again might close another file.
  if (over.what == verb::close && outcome == -EINTR) outcome = 0;
  if (outcome == -EINTR && !over.cancel_asked) {
    submit(over);
    return;
  }
  if (outcome < 0) {
    over.error = static_cast<int>(-outcome);
    // A worker that was told to stop may say so.
    if (over.error == EINTR) over.error = ECANCELED;
  } else if (over.moves_bytes()) {
    over.done += static_cast<std::size_t>(outcome);
    if (over.whole && over.done < over.size) {
      if (outcome > 0 && !over.cancel_asked) {
        submit(over);
        return;
      }
      if (outcome > 0) {
        over.error = ECANCELED;
      } else if (over.what == verb::write) {
        over.error = EIO;  // nothing was written, and nothing is wrong: never to end otherwise
      }
    }
  } else if (over.what == verb::size) {
    struct statx status;
    std::memcpy(&status, over.data, sizeof status);
    over.done = status.stx_size;
  } else if (over.what == verb::open) {
    over.file->fd = static_cast<int>(outcome);
    over.file->prompt = ends_soon(over.file->fd);
  }
  // A cancelled close has closed nothing.
  if (over.what == verb::close && over.error == ECANCELED) {
    over.error = ::close(over.fd) == 0 ? 0 : errno;
  }
  finish(over);
}

void core::finish(operation& over) noexcept {
  over.in_flight = false;
  (over.older != nullptr ? over.older->newer : oldest_) = over.newer;
  (over.newer != nullptr ? over.newer->older : newest_) = over.older;
  file_state& file = *over.file.get();
  if (--file.in_flight == 0 && file.closer != nullptr) {
    operation& closer = *std::exchange(file.closer, nullptr);
    ++file.in_flight;
    submit(closer);
  }
  if (over.abandoned) {
    delete &over;
    return;
  }
  count(over, -1);
  strand_block& self = *over.node.who;
  if (over.error != ECANCELED && self.reason != wake_reason::granted) {
    // It was over before the kernel could stop it: what is done is granted.
    self.cancel_pending |= self.reason == wake_reason::cancelled;
    self.reason = wake_reason::granted;
  }
  ++woken_;
  scheduler::wake(over.node);
}

void core::collect(std::optional<duration> limit) {
  engine_->collect(*this, limit);
  while (!backlog_.empty() && engine_->start(*backlog_.first())) backlog_.pop().taken = true;
}

bool core::poll() {
  const std::size_t before = woken_;
  collect(duration::zero());
  return woken_ != before;
}

void core::wait(std::optional<time_point> limit) {
  std::optional<duration> length;
  if (limit) length = std::max(duration::zero(), *limit - std::chrono::steady_clock::now());
  collect(length);
}

}  // namespace heddle::coop::io::detail
