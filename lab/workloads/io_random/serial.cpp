#include <unistd.h>

#include "workloads/io_random/workload.hpp"

namespace heddle::lab::io_random {
namespace {

void run(problem& work, region& timed) {
  alignas(problem::block_bytes) static char block[problem::block_bytes];
  problem::reader reads(work);
  timed.begin();
  for (std::int64_t i = 0; i < work.count(); ++i) {
    const ssize_t bytes = pread(work.fd(), block, sizeof block, static_cast<off_t>(work.offset(i)));
    reads.took(i, bytes, block);
  }
  timed.end();
  work.finish(reads);
}

const model<problem> registered{"serial", &run};

}  // namespace
}  // namespace heddle::lab::io_random
