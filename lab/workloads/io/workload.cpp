#include "workloads/io/workload.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "harness/processors.hpp"

namespace heddle::lab::io {

namespace {

int tasks_within(const parameters& values) {
  const std::int64_t room = 1024 * values.integer("megabytes") / values.integer("kilobytes");
  return static_cast<int>(std::clamp<std::int64_t>(room, 1, values.integer("tasks")));
}

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("tasks", 1000, 1, 100'000, "tasks at once"),
      parameter::integer("kilobytes", 4, 4, 1'000'000, "size of the file"),
      parameter::integer("megabytes", 1'000'000, 1, 1'000'000,
                         "of all buffers together: fewer tasks where they would take more"),
      parameter::integer("reads", 1, 1, 1'000'000, "times that a task reads it"),
      parameter::integer("depth", 0, 0, 1000, "calls round the reading"),
      parameter::word("memory", {"reused", "fresh"}, "of frames, stacks and buffers"),
      parameter::word("cache", {"warm", "direct"}, "from the page cache, or by O_DIRECT"),
      parameter::word("via", {"linux_aio", "io_uring"}, "how the runtime reads"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("tasks", std::min<std::int64_t>(values.integer("tasks"), 10))
      .with("kilobytes", 4);
}

problem::problem(const parameters& values)
    : tasks_(tasks_within(values)),
      depth_(static_cast<int>(values.integer("depth"))),
      reads_(static_cast<int>(values.integer("reads"))),
      bytes_(static_cast<std::size_t>((values.integer("kilobytes") + 3) / 4) *
             scratch_file::block_bytes),
      reuses_memory_(values.word("memory") == "reused"),
      direct_(values.word("cache") == "direct"),
      via_(values.word("via")),
      file_(bytes_ / scratch_file::block_bytes, [](std::uint64_t index, std::uint64_t* words) {
        std::iota(words, words + scratch_file::block_words, index * scratch_file::block_words);
      }) {
  pin_to_one_processor();
}

void problem::spoil(void* buffer) const {
  const std::uint64_t wrong = ~std::uint64_t{0};
  std::memcpy(buffer, &wrong, sizeof wrong);
  std::memcpy(static_cast<char*>(buffer) + bytes_ - sizeof wrong, &wrong, sizeof wrong);
}

void problem::took(std::int64_t bytes, const void* buffer) {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::memcpy(&first, buffer, sizeof first);
  std::memcpy(&last, static_cast<const char*>(buffer) + bytes_ - sizeof last, sizeof last);
  const bool right =
      bytes == static_cast<std::int64_t>(bytes_) && first == 0 && last == bytes_ / sizeof last - 1;
  ++(right ? right_ : wrong_);
}

verdict problem::check() const {
  const std::int64_t all = std::int64_t{tasks_} * reads_;
  const std::string expected =
      std::to_string(all) + " reads of " + std::to_string(bytes_) + " bytes, each of the file's";
  if (right_ != all || wrong_ != 0) {
    return {false, "expected: " + expected + "; " + std::to_string(right_) + " were right, " +
                       std::to_string(wrong_) + " wrong"};
  }
  return {true, expected};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const auto tasks = static_cast<double>(tasks_);
  out.metrics.add("task_ns", static_cast<double>(timed.wall_ns()) / tasks)
      .add("task_cpu_ns", static_cast<double>(timed.cpu_ns()) / tasks);
  out.counters.add("tasks", std::int64_t{tasks_})
      .add("frames_per_task", static_cast<double>(frames_) / tasks)
      .add("stacks_per_task", static_cast<double>(stacks_) / tasks);
}

}  // namespace heddle::lab::io
