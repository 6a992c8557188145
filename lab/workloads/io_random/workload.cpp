#include "workloads/io_random/workload.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "harness/processors.hpp"

namespace heddle::lab::io_random {
std::vector<parameter> problem::declare() {
  return {
      parameter::integer("file-kilobytes", 65'536, 4, 64'000'000, "size of the file"),
      parameter::integer("count", 200'000, 1, 1'000'000'000, "reads altogether"),
      parameter::integer("depth", 32, 1, 4096, "reads at a time"),
      parameter::word("cache", {"warm", "direct"}, "from the page cache, or by O_DIRECT"),
      parameter::word("io", {"io_uring", "linux_aio", "threads"}, "cooperative: how"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("count", std::min<std::int64_t>(values.integer("count"), 1000))
      .with("file-kilobytes", std::min<std::int64_t>(values.integer("file-kilobytes"), 400));
}

problem::problem(const parameters& values)
    : count_(values.integer("count")),
      depth_(static_cast<unsigned>(values.integer("depth"))),
      io_(values.word("io")),
      blocks_(std::max<std::uint64_t>(
          static_cast<std::uint64_t>(values.integer("file-kilobytes")) * 1024 / block_bytes, 1)),
      fd_(scratch_file(blocks_, [](std::uint64_t index, std::uint64_t* words) {
            std::fill_n(words, scratch_file::block_words, index);
          }).open(values.word("cache") == "direct")) {
  pin_to_one_processor();
}

problem::~problem() { close(fd_); }

void problem::reader::took(std::int64_t index, std::int64_t bytes, const void* block) {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::memcpy(&first, block, sizeof first);
  std::memcpy(&last, static_cast<const char*>(block) + block_bytes - sizeof last, sizeof last);
  const std::uint64_t expected = work_.block(index);
  if (bytes == static_cast<std::int64_t>(block_bytes) && first == expected && last == expected) {
    ++right_;
  }
  indices_ += static_cast<std::uint64_t>(index);
}

void problem::finish(const reader& ended) {
  right_ += ended.right_;
  indices_ += ended.indices_;
}

verdict problem::check() const {
  const auto reads = static_cast<std::uint64_t>(count_);
  const std::string expected = std::to_string(count_) + " reads, each of its own block";
  if (right_ != count_ || indices_ != reads * (reads - 1) / 2) {
    return {false, "expected: " + expected + "; " + std::to_string(right_) +
                       " were right, and their numbers add up to " + std::to_string(indices_)};
  }
  return {true, expected};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const auto wall = static_cast<double>(timed.wall_ns());
  const auto reads = static_cast<double>(count_);
  const auto processor = static_cast<double>(timed.used().user_ns + timed.used().sys_ns);
  out.metrics.add("read_ns", wall / reads)
      .add("reads_per_s", reads * 1e9 / wall)
      .add("cpu_ns", processor / reads);
}

}  // namespace heddle::lab::io_random
