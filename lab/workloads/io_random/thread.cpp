#include <unistd.h>

#include <atomic>
#include <vector>

#include "harness/team.hpp"
#include "workloads/io_random/workload.hpp"

namespace heddle::lab::io_random {
namespace {

struct alignas(problem::block_bytes) block {
  char bytes[problem::block_bytes];
};

void run(problem& work, region& timed) {
  std::atomic<std::int64_t> next = 0;
  std::vector<block> blocks(work.depth());
  run_on_threads(timed, static_cast<int>(work.depth()), [&](int strand) {
    block& mine = blocks[static_cast<std::size_t>(strand)];
    problem::reader reads(work);
    for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < work.count();) {
      const ssize_t bytes =
          pread(work.fd(), mine.bytes, sizeof mine.bytes, static_cast<off_t>(work.offset(i)));
      reads.took(i, bytes, mine.bytes);
    }
    work.finish(reads);
  });
}

const model<problem> registered{"thread", &run};

}  // namespace
}  // namespace heddle::lab::io_random
