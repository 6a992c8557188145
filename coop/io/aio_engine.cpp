// Linux's own asynchronous I/O (linux/aio_abi.h; io_submit(2)), by bare system calls. It does reads
// and writes of regular files, without O_DIRECT inside io_submit on most file systems. Threads do
// the rest.
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <system_error>
#include <vector>

#include "engines.hpp"
#include "thread_engine.hpp"

namespace heddle::coop::io::detail {
namespace {

class aio_engine final : public engine {
 public:
  explicit aio_engine(const service_options& options)
      : threads_(options.threads), room_(std::max(options.depth, 1U)) {
    if (syscall(SYS_io_setup, room_, &context_) != 0) {
      const bool many = errno == EAGAIN;
      throw std::system_error(errno, std::generic_category(),
                              many ? "linux_aio: io_setup(2), beyond the sysctl fs.aio-max-nr"
                                   : "linux_aio: io_setup(2)");
    }
    prepared_.reserve(room_);
  }
  ~aio_engine() override { syscall(SYS_io_destroy, context_); }

  bool start(operation& wanted) override {
    if (!is_kernels(wanted)) return threads_.start(wanted);
    if (room_ == 0) return false;
    --room_;
    prepared_.push_back(&(wanted.engine_data<iocb>() = request_of(wanted)));
    return true;
  }

  void cancel(operation& unwanted) override {
    // io_cancel(2) works for no file system. What is not submitted yet need not be.
    for (iocb*& each : prepared_) {
      if (each->aio_data == reinterpret_cast<std::uintptr_t>(&unwanted)) {
        each->aio_lio_opcode = IOCB_CMD_NOOP;
        return;
      }
    }
    if (!is_kernels(unwanted)) threads_.cancel(unwanted);
  }

  void collect(completions& to, std::optional<duration> limit) override {
    submit(to);
    // Both the kernel and the threads raise it.
    if (limit != duration::zero() && !over_) threads_.over().wait(limit);
    over_ = false;
    threads_.deliver(to);
    io_event events[64];
    for (;;) {
      timespec at_once = {};
      const long count =
          syscall(SYS_io_getevents, context_, 0, std::size(events), events, &at_once);
      for (long i = 0; i < count; ++i) complete(to, events[i].data, events[i].res);
      if (count < static_cast<long>(std::size(events))) return;
    }
  }

  void interrupt() noexcept override { threads_.interrupt(); }
  [[nodiscard]] int fd() noexcept override { return threads_.fd(); }

 private:
  // Whether the kernel does it, or a thread.
  static bool is_kernels(const operation& wanted) noexcept {
    return wanted.moves_bytes() && wanted.prompt && wanted.offset >= 0;
  }

  iocb request_of(operation& wanted) noexcept {
    iocb request = {};
    request.aio_lio_opcode = wanted.what == verb::read ? IOCB_CMD_PREAD : IOCB_CMD_PWRITE;
    request.aio_data = reinterpret_cast<std::uintptr_t>(&wanted);
    request.aio_fildes = static_cast<std::uint32_t>(wanted.fd);
    request.aio_buf = reinterpret_cast<std::uintptr_t>(wanted.rest());
    request.aio_nbytes = wanted.rest_bytes();
    request.aio_offset = wanted.rest_offset();
    request.aio_flags = IOCB_FLAG_RESFD;
    request.aio_resfd = static_cast<std::uint32_t>(threads_.over().fd());
    return request;
  }

  void submit(completions& to) {
    std::size_t submitted = 0;
    while (submitted < prepared_.size()) {
      iocb** const rest = prepared_.data() + submitted;
      if ((*rest)->aio_lio_opcode == IOCB_CMD_NOOP) {
        complete(to, (*rest)->aio_data, -ECANCELED);
        over_ = true;
        ++submitted;
        continue;
      }
      const long taken = syscall(SYS_io_submit, context_, prepared_.size() - submitted, rest);
      if (taken > 0) {
        submitted += static_cast<std::size_t>(taken);
      } else if (errno != EAGAIN && errno != EINTR) {
        complete(to, (*rest)->aio_data, -errno);  // io_submit speaks of the first of them
        over_ = true;
        ++submitted;
      } else {
        break;
      }
    }
    prepared_.erase(prepared_.begin(), prepared_.begin() + static_cast<std::ptrdiff_t>(submitted));
  }

  void complete(completions& to, std::uint64_t data, long outcome) {
    ++room_;
    to.complete(*reinterpret_cast<operation*>(static_cast<std::uintptr_t>(data)), outcome);
  }

  thread_engine threads_;
  aio_context_t context_ = 0;
  std::size_t room_;
  std::vector<iocb*> prepared_;  // started, not submitted
  bool over_ = false;            // something was, before the kernel saw it
};

}  // namespace

std::unique_ptr<engine> make_aio_engine(const engine_options& options) {
  return std::make_unique<aio_engine>(options);
}

}  // namespace heddle::coop::io::detail
