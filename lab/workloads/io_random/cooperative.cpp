#include <unistd.h>

#include "harness/io_service.hpp"
#include "harness/strand_kinds.hpp"
#include "workloads/io_random/workload.hpp"

namespace heddle::lab::io_random {
namespace {

using namespace coop;

STRAND read_some(problem& work, const io::file& data, std::int64_t& next) {
  const io::buffer block(problem::block_bytes, problem::block_bytes);
  problem::reader reads(work);
  while (next < work.count()) {
    const std::int64_t i = next++;
    const auto read = WAIT(data.read(block, work.offset(i)));
    reads.took(i, static_cast<std::int64_t>(read.reached()), block.data());
  }
  work.finish(reads);
}

void run(problem& work, region& timed) {
  scheduler s;
  const io_service files(s, work.io(), work.depth());
  const io::file data = files.adopt(dup(work.fd()), "the file of the test");
  std::int64_t next = 0;
  for (unsigned strand = 0; strand < work.depth(); ++strand) {
    s.spawn([&] { return read_some(work, data, next); });
  }
  timed.begin();
  s.run();
  timed.end();
}

const model<problem> registered{"cooperative/" KIND, &run};

}  // namespace
}  // namespace heddle::lab::io_random
