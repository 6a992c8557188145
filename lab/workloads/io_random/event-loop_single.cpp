// io_uring with nothing round it: as many reads in flight as `depth`, each replaced when it ends.
#include <liburing.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "workloads/io_random/workload.hpp"

namespace heddle::lab::io_random {
namespace {

struct alignas(problem::block_bytes) block {
  char bytes[problem::block_bytes];
};

class ring {
 public:
  explicit ring(unsigned depth) {
    // The cheapest set-up there is for one thread, from 6.1 on.
    io_uring_params parameters = {};
    parameters.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CLAMP;
    int error = io_uring_queue_init_params(depth, &ring_, &parameters);
    if (error == -EINVAL) error = io_uring_queue_init(depth, &ring_, 0);
    if (error < 0) throw std::system_error(-error, std::generic_category(), "io_uring_setup(2)");
  }
  ~ring() { io_uring_queue_exit(&ring_); }
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;
  io_uring* get() { return &ring_; }

 private:
  io_uring ring_;
};

void run(problem& work, region& timed) {
  ring kernel(work.depth());
  std::vector<block> blocks(work.depth());
  std::vector<std::int64_t> indices(work.depth());
  problem::reader reads(work);
  std::int64_t started = 0;
  std::int64_t ended = 0;
  const auto start = [&](std::size_t slot) {
    io_uring_sqe* const request = io_uring_get_sqe(kernel.get());
    indices[slot] = started;
    io_uring_prep_read(request, work.fd(), blocks[slot].bytes, problem::block_bytes,
                       work.offset(started));
    request->user_data = slot;
    ++started;
  };

  timed.begin();
  for (std::size_t slot = 0; slot < work.depth() && started < work.count(); ++slot) start(slot);
  while (ended < work.count()) {
    const int submitted = io_uring_submit_and_wait(kernel.get(), 1);
    if (submitted < 0 && submitted != -EINTR) {
      throw std::system_error(-submitted, std::generic_category(), "io_uring_enter(2)");
    }
    io_uring_cqe* over = nullptr;
    unsigned head = 0;
    unsigned count = 0;
    io_uring_for_each_cqe(kernel.get(), head, over) {
      const auto slot = static_cast<std::size_t>(over->user_data);
      reads.took(indices[slot], over->res, blocks[slot].bytes);
      if (started < work.count()) start(slot);
      ++count;
    }
    io_uring_cq_advance(kernel.get(), count);
    ended += count;
  }
  timed.end();
  work.finish(reads);
}

const model<problem> registered{"event-loop/single", &run};

}  // namespace
}  // namespace heddle::lab::io_random
