#include <doctest/doctest.h>

#include <vector>

#include "workloads/io_random/workload.hpp"

namespace heddle::lab::io_random_oracle_test {

using io_random::problem;

// Ten reads, of which read `spoilt` has another block's number in its last word, and read `twice`
// stands for the one after it, too.
verdict run(std::int64_t spoilt, std::int64_t twice, std::int64_t bytes) {
  const parameters values(problem::declare());
  problem work(values.with("count", 10).with("file-kilobytes", 400));
  problem::reader reads(work);
  std::vector<std::uint64_t> block(problem::block_bytes / sizeof(std::uint64_t));
  for (std::int64_t i = 0; i < 10; ++i) {
    const std::int64_t index = i == twice + 1 ? twice : i;
    std::fill(block.begin(), block.end(), work.block(index));
    if (i == spoilt) ++block.back();
    reads.took(index, bytes, block.data());
  }
  work.finish(reads);
  return work.check();
}

TEST_CASE("the oracle of random reads wants each read once, whole, and of its own block") {
  const auto whole = static_cast<std::int64_t>(problem::block_bytes);
  CHECK(run(-1, -2, whole).ok);
  CHECK_FALSE(run(3, -2, whole).ok);
  CHECK_FALSE(run(-1, 5, whole).ok);
  CHECK_FALSE(run(-1, -2, whole - 1).ok);
}

}  // namespace heddle::lab::io_random_oracle_test
