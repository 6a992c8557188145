// io_uring, by liburing.
#include "engines.hpp"

#if defined(HEDDLE_LIBURING)
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <memory>
#include <vector>

#include "uring_acceptor.hpp"
#endif
#include <system_error>

#include "core.hpp"
#include "event.hpp"

namespace heddle::coop::io::detail {

#if defined(HEDDLE_LIBURING)
namespace {

class uring_engine final : public engine {
 public:
  explicit uring_engine(const engine_options& options) {
    const unsigned depth = std::max(options.depth, 1U);
    // The first, from 6.1 on, lets the kernel do its part when we come for completions, instead of
    // interrupting us. It refuses everything to any thread but the one that makes the ring.
    const unsigned first =
        options.other_thread ? 0U : IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    const unsigned wishes[] = {first, 0};
    int error = 0;
    for (const unsigned flags : wishes) {
      io_uring_params parameters = {};
      parameters.flags = flags | IORING_SETUP_CLAMP;
      error = io_uring_queue_init_params(depth, &ring_, &parameters);
      modern_ = error == 0 && flags != 0;
      if (error != -EINVAL) break;
    }
    if (error < 0) {
      throw std::system_error(-error, std::generic_category(),
                              error == -EPERM
                                  ? "io_uring: forbidden by seccomp or kernel.io_uring_disabled"
                                  : "io_uring: io_uring_setup(2)");
    }
    if (!knows_all()) {
      io_uring_queue_exit(&ring_);
      throw std::system_error(ENOSYS, std::generic_category(),
                              "io_uring: this kernel's, before 5.6, cannot read and write files");
    }
    io_uring_ring_dontfork(&ring_);
  }
  ~uring_engine() override {
    for (const auto& each : acceptors_) each->abandon();
    io_uring_get_events(&ring_);
    nobody none;
    reap(none);
    io_uring_queue_exit(&ring_);
  }

  bool start(operation& wanted) override {
    if (wanted.what == verb::accept && modern_ && polled(wanted).exclusive) {
      acceptor_of(polled(wanted)).wait(wanted);
      return true;
    }
    io_uring_sqe* const request = free_entry(ring_);
    if (request == nullptr) return false;
    prepare(*request, wanted);
    io_uring_sqe_set_data(request, &wanted);
    return true;
  }

  void cancel(operation& unwanted) override {
    if (unwanted.what == verb::accept && modern_ && polled(unwanted).exclusive) {
      if (acceptor_of(polled(unwanted)).remove(unwanted)) cancelled_.push(unwanted);
      return;
    }
    // Without an entry for it, the operation runs to its end, or is cancelled by the next try.
    if (io_uring_sqe* const request = free_entry(ring_)) {
      io_uring_prep_cancel(request, &unwanted, 0);
      io_uring_sqe_set_data(request, nullptr);
    }
  }

  void forget(file_state& closing, int /*fd*/) noexcept override {
    for (const auto& each : acceptors_) {
      if (each->is_of(polled(closing))) each->abandon();
    }
  }

  void interrupt() noexcept override { bell_.raise(); }
  // Not the ring's own: with IORING_SETUP_DEFER_TASKRUN that becomes readable only once a thread
  // has asked for the completions.
  [[nodiscard]] int fd() noexcept override {
    if (!rings_) rings_ = io_uring_register_eventfd(&ring_, bell_.fd()) == 0;
    return bell_.fd();
  }

  void collect(completions& to, std::optional<duration> limit) override {
    if (rings_) {
      bell_.clear();
    } else if (!bell_watched_) [[unlikely]] {
      watch_bell();
    }
    if (serve_accepts(to)) limit = duration::zero();
    if (limit == duration::zero()) {
      io_uring_submit_and_get_events(&ring_);
    } else if (!limit) {
      io_uring_submit_and_wait(&ring_, 1);
    } else {
      const auto seconds = std::chrono::floor<std::chrono::seconds>(*limit);
      __kernel_timespec length = {seconds.count(), (*limit - seconds).count()};
      io_uring_cqe* first = nullptr;
      io_uring_submit_and_wait_timeout(&ring_, &first, 1, &length, nullptr);
    }
    // An error of these (EINTR, EBUSY) leaves everything where it is, for the next time.
    reap(to);
  }

 private:
  static constexpr std::uint64_t bell_data = 1;  // no operation's address

  struct nobody final : completions {
    void complete(operation& /*over*/, long /*outcome*/) noexcept override {}
  };

  void reap(completions& to) {
    io_uring_cqe* over = nullptr;
    unsigned head = 0;
    unsigned count = 0;
    io_uring_for_each_cqe(&ring_, head, over) {
      ++count;
      if (over->user_data == bell_data) {
        if (!rings_) bell_.clear();
        bell_watched_ = false;
        continue;
      }
      // Not ours are the answers to cancellations, and liburing's own timeouts.
      if (over->user_data == 0 || over->user_data == LIBURING_UDATA_TIMEOUT) continue;
      if (uring_acceptor* const accepts = uring_acceptor::of(over->user_data)) {
        accepts->complete(to, *over);
        continue;
      }
      to.complete(*static_cast<operation*>(io_uring_cqe_get_data(over)), over->res);
    }
    io_uring_cq_advance(&ring_, count);
    std::erase_if(acceptors_, [](const auto& each) { return each->is_over(); });
  }

  uring_acceptor& acceptor_of(polled_state& listener) {
    for (const auto& each : acceptors_) {
      if (each->is_of(listener)) return *each;
    }
    return *acceptors_.emplace_back(std::make_unique<uring_acceptor>(ring_, listener));
  }

  // Returns whether to come again before waiting: one is over without the kernel, or could not
  // begin.
  bool serve_accepts(completions& to) {
    bool any = !cancelled_.empty();
    operation_queue cancelled;
    std::swap(cancelled, cancelled_);
    while (!cancelled.empty()) to.complete(cancelled.pop(), -ECANCELED);
    // By number: what is completed may bring in another one.
    for (std::size_t i = 0; i < acceptors_.size(); ++i) any |= acceptors_[i]->serve(to);
    return any;
  }

  void watch_bell() {
    if (io_uring_sqe* const request = free_entry(ring_)) {
      io_uring_prep_poll_add(request, bell_.fd(), POLLIN);
      request->user_data = bell_data;
      bell_watched_ = true;
    }
  }

  bool knows_all() {
    io_uring_probe* const probe = io_uring_get_probe_ring(&ring_);
    if (probe == nullptr) return false;
    constexpr int needed[] = {IORING_OP_OPENAT,      IORING_OP_CLOSE, IORING_OP_READ,
                              IORING_OP_WRITE,       IORING_OP_FSYNC, IORING_OP_STATX,
                              IORING_OP_ASYNC_CANCEL};
    const bool all = std::all_of(std::begin(needed), std::end(needed), [&](int each) {
      return io_uring_opcode_supported(probe, each) != 0;
    });
    io_uring_free_probe(probe);
    return all;
  }

  void prepare(io_uring_sqe& request, operation& wanted) const {
    const auto bytes = static_cast<unsigned>(wanted.rest_bytes());
    const auto offset = static_cast<std::uint64_t>(wanted.rest_offset());  // -1: at its position
    if (wanted.what == verb::read || wanted.what == verb::write) [[likely]] {
      io_uring_prep_rw(wanted.what == verb::read ? IORING_OP_READ : IORING_OP_WRITE, &request,
                       wanted.fd, wanted.rest(), bytes, offset);
      return;
    }
    switch (wanted.what) {
      case verb::open:
        io_uring_prep_openat(&request, AT_FDCWD, wanted.file->name.c_str(), wanted.flags,
                             wanted.mode);
        break;
      case verb::close:
        io_uring_prep_close(&request, wanted.fd);
        break;
      case verb::read:
      case verb::write:
        break;
      case verb::fsync:
        io_uring_prep_fsync(&request, wanted.fd, 0);
        break;
      case verb::fdatasync:
        io_uring_prep_fsync(&request, wanted.fd, IORING_FSYNC_DATASYNC);
        break;
      case verb::size:
        io_uring_prep_statx(&request, wanted.fd, "", AT_EMPTY_PATH, STATX_SIZE,
                            reinterpret_cast<struct statx*>(wanted.data));
        break;
      case verb::receive:
        io_uring_prep_recv(&request, wanted.fd, wanted.rest(), bytes, 0);
        break;
      case verb::send:
        if (wanted.parts != nullptr) {
          io_uring_prep_sendmsg(&request, wanted.fd, &wanted.parts->header, MSG_NOSIGNAL);
        } else {
          io_uring_prep_send(&request, wanted.fd, wanted.rest(), bytes, MSG_NOSIGNAL);
        }
        break;
      case verb::accept:
        io_uring_prep_accept(&request, wanted.fd, nullptr, nullptr, SOCK_CLOEXEC);
        break;
      case verb::connect:
        io_uring_prep_connect(&request, wanted.fd, wanted.connect->present().address(),
                              wanted.connect->present().length());
        break;
      case verb::readable:
        io_uring_prep_poll_add(&request, wanted.fd, POLLIN);
        break;
      case verb::receive_from:
        io_uring_prep_recvmsg(&request, wanted.fd, &wanted.around->header, MSG_TRUNC);
        break;
      case verb::send_to:
        io_uring_prep_sendmsg(&request, wanted.fd, &wanted.around->header,
                              MSG_NOSIGNAL | (wanted.tried_again ? MSG_DONTWAIT : 0));
        break;
    }
    // The call has just been made, and would have had to wait.
    if (modern_ && says_not_to_wait(wanted) && !polled(wanted).may[wanted.way]) {
      request.ioprio |= IORING_RECVSEND_POLL_FIRST;
    }
  }

  io_uring ring_ = {};
  event bell_;
  std::vector<std::unique_ptr<uring_acceptor>> acceptors_;
  operation_queue cancelled_;  // accepts, to be told
  bool bell_watched_ = false;  // by a request of the ring
  bool rings_ = false;         // the ring rings the bell with every completion
  bool modern_ = false;        // 6.1 or newer: knows IORING_RECVSEND_POLL_FIRST
};

}  // namespace

std::unique_ptr<engine> make_uring_engine(const engine_options& options) {
  return std::make_unique<uring_engine>(options);
}

#else

std::unique_ptr<engine> make_uring_engine(const engine_options&) {
  throw std::system_error(ENOSYS, std::generic_category(),
                          "io_uring: Heddle was built without liburing");
}

#endif

}  // namespace heddle::coop::io::detail
