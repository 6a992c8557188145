#include "heddle/coop/task.hpp"
#include "workloads/io_random/cooperative.hpp"

namespace heddle::lab::io_random {
namespace {

using namespace coop;

task<> read_some(problem& work, const io::file& data, std::int64_t& next) {
  const io::buffer block(problem::block_bytes, problem::block_bytes);
  problem::reader reads(work);
  while (next < work.count()) {
    const std::int64_t i = next++;
    const auto read = co_await data.read(block, work.offset(i));
    reads.took(i, static_cast<std::int64_t>(read.reached()), block.data());
  }
  work.finish(reads);
}

void run(problem& work, region& timed) {
  scheduler s;
  const io_service files(s, work.io(), work.depth());
  const io::file data = adopt(files, work);
  std::int64_t next = 0;
  for (unsigned strand = 0; strand < work.depth(); ++strand) {
    s.spawn(read_some(work, data, next));
  }
  timed.begin();
  s.run();
  timed.end();
}

const model<problem> registered{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::io_random
