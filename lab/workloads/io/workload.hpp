#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model.hpp"
#include "harness/scratch_file.hpp"

namespace heddle::lab::io {

/// `tasks` tasks at once, each of which opens a file, reads the whole of it `reads` times and
/// closes it: async_simple's benchmark of reading, on one processor.
///
/// - `depth`: calls between the beginning of a task and its reading: "IO operations are often
///   performed after a series of function calls in real scenarios".
/// - `memory=fresh`: frames, stacks and buffers were never used before. `reused`: the same tasks
///   have run once already, before the clock starts, and left theirs.
/// - `megabytes`: the memory that all buffers may take; a large file is read by fewer tasks.
/// - `cache=warm`: the file is in the page cache, so that a read is a copy; `direct`: O_DIRECT.
///
/// serial does one task after the other by pread(2).
///
/// Oracle: word i of the file is i. The first and the last word of the buffer are spoilt before
/// each read and must be right after it, and there must be tasks × reads reads.
///
/// Metrics: `task_ns` = wall / tasks; `task_cpu_ns` = processor time / tasks. Counters: `tasks`,
/// and the coroutines and stacks that a task has (`frames_per_task`, `stacks_per_task`).
class problem {
 public:
  static constexpr std::string_view name = "io";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] int tasks() const { return tasks_; }
  [[nodiscard]] int depth() const { return depth_; }
  [[nodiscard]] int reads() const { return reads_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] bool reuses_memory() const { return reuses_memory_; }
  /// The mechanism with which the runtime reads: `io_uring` or `linux_aio`.
  [[nodiscard]] const std::string& via() const { return via_; }

  /// Opens the file; the caller closes it.
  [[nodiscard]] int open() const { return file_.open(direct_); }

  /// Before a read into `buffer`, which has bytes() bytes.
  void spoil(void* buffer) const;
  /// A read into it returned so many bytes, or less than 0.
  void took(std::int64_t bytes, const void* buffer);
  /// A model has made a coroutine, or a stack, for a task.
  void made_frame() { ++frames_; }
  void made_stack() { ++stacks_; }
  /// Resets the counters, as after a warm-up.
  void forget() { right_ = wrong_ = frames_ = stacks_ = 0; }

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  int tasks_;
  int depth_;
  int reads_;
  std::size_t bytes_;
  bool reuses_memory_;
  bool direct_;
  std::string via_;
  scratch_file file_;
  std::int64_t right_ = 0;
  std::int64_t wrong_ = 0;
  std::int64_t frames_ = 0;
  std::int64_t stacks_ = 0;
};

}  // namespace heddle::lab::io
