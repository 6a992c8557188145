#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "harness/team.hpp"
#include "workloads/io_random/workload.hpp"

namespace heddle::lab::io_random {
namespace {

struct alignas(problem::block_bytes) block {
  char bytes[problem::block_bytes];
};

// One thread for each of the machine's processors takes reads as they come, at every depth, and
// blocks in each: a thread pool without I/O multiplexing, as epoll cannot wait for a file.
void run(problem& work, region& timed) {
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::atomic<std::int64_t> next = 0;
  std::vector<block> blocks(threads);
  run_on_threads(timed, static_cast<int>(threads), [&](int thread) {
    block& mine = blocks[static_cast<std::size_t>(thread)];
    problem::reader reads(work);
    for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < work.count();) {
      const ssize_t bytes =
          pread(work.fd(), mine.bytes, sizeof mine.bytes, static_cast<off_t>(work.offset(i)));
      reads.took(i, bytes, mine.bytes);
    }
    work.finish(reads);
  });
}

const model<problem> registered{"thread/pool", &run};

}  // namespace
}  // namespace heddle::lab::io_random
