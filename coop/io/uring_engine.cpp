// io_uring, by liburing.
#include "engines.hpp"

#if defined(HEDDLE_LIBURING)
#include <fcntl.h>
#include <liburing.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#endif
#include <system_error>

#include "core.hpp"

namespace heddle::coop::io::detail {

#if defined(HEDDLE_LIBURING)
namespace {

class uring_engine final : public engine {
 public:
  explicit uring_engine(const service_options& options) {
    const unsigned depth = std::max(options.depth, 1U);
    // The first, from 6.1 on, lets the kernel do its part when we come for completions, instead of
    // interrupting us.
    const unsigned wishes[] = {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, 0};
    int error = 0;
    for (const unsigned flags : wishes) {
      io_uring_params parameters = {};
      parameters.flags = flags | IORING_SETUP_CLAMP;
      error = io_uring_queue_init_params(depth, &ring_, &parameters);
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
  ~uring_engine() override { io_uring_queue_exit(&ring_); }

  bool start(operation& wanted) override {
    io_uring_sqe* const request = free_entry();
    if (request == nullptr) return false;
    prepare(*request, wanted);
    io_uring_sqe_set_data(request, &wanted);
    return true;
  }

  void cancel(operation& unwanted) override {
    // Without an entry for it, the operation runs to its end, or is cancelled by the next try.
    if (io_uring_sqe* const request = free_entry()) {
      io_uring_prep_cancel(request, &unwanted, 0);
      io_uring_sqe_set_data(request, nullptr);
    }
  }

  void collect(completions& to, std::optional<duration> limit) override {
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
    io_uring_cqe* over = nullptr;
    unsigned head = 0;
    unsigned count = 0;
    io_uring_for_each_cqe(&ring_, head, over) {
      ++count;
      // Not ours are the answers to cancellations, and liburing's own timeouts.
      if (over->user_data == 0 || over->user_data == LIBURING_UDATA_TIMEOUT) continue;
      to.complete(*static_cast<operation*>(io_uring_cqe_get_data(over)), over->res);
    }
    io_uring_cq_advance(&ring_, count);
  }

 private:
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

  io_uring_sqe* free_entry() {
    io_uring_sqe* request = io_uring_get_sqe(&ring_);
    if (request == nullptr) {
      io_uring_submit(&ring_);
      request = io_uring_get_sqe(&ring_);
    }
    return request;
  }

  static void prepare(io_uring_sqe& request, operation& wanted) {
    const auto bytes = static_cast<unsigned>(wanted.rest_bytes());
    const auto offset = static_cast<std::uint64_t>(wanted.rest_offset());  // -1: at its position
    if (wanted.moves_bytes()) [[likely]] {
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
    }
  }

  io_uring ring_ = {};
};

}  // namespace

std::unique_ptr<engine> make_uring_engine(const service_options& options) {
  return std::make_unique<uring_engine>(options);
}

#else

std::unique_ptr<engine> make_uring_engine(const service_options&) {
  throw std::system_error(ENOSYS, std::generic_category(),
                          "io_uring: Heddle was built without liburing");
}

#endif

}  // namespace heddle::coop::io::detail
