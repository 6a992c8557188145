#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model.hpp"
#include "harness/scratch_file.hpp"

namespace heddle::lab::io_random {

/// `count` reads of 4 KB at random places of a file, `depth` of them at a time.
///
/// - `cache=warm`: the file is in the page cache, so that a read is a copy and what is timed is the
///   way to it; `cache=direct`: O_DIRECT, from the device.
/// - `io`: what our own models use; the others have one way each. `event-loop/single` is io_uring
///   with nothing round it: what there is to reach. `thread/pool` has as many threads as there are
///   processors instead of as many as `depth`. A goroutine's read is a system call that blocks.
///
/// Oracle: every block of the file is full of its own number; each read is looked at in two places,
/// and each of the `count` reads comes once.
///
/// Metrics: `read_ns` = wall / count; `reads_per_s`; `cpu_ns` = processor time / count, which other
/// programs on a busy machine spoil less.
class problem {
 public:
  static constexpr std::string_view name = "io-random";
  static constexpr std::size_t block_bytes = scratch_file::block_bytes;

  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);
  ~problem();
  problem(const problem&) = delete;
  problem& operator=(const problem&) = delete;

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] unsigned depth() const { return depth_; }
  [[nodiscard]] const std::string& io() const { return io_; }
  /// Open for reading; owned by the problem.
  [[nodiscard]] int fd() const { return fd_; }

  /// The block of read number `index`: the same in every model and run.
  [[nodiscard]] std::uint64_t block(std::int64_t index) const {
    // SplitMix64's finaliser (Steele, Lea, Flood 2014): well spread, and costs nothing.
    std::uint64_t x = static_cast<std::uint64_t>(index) + 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (x ^ (x >> 31)) % blocks_;
  }
  [[nodiscard]] std::uint64_t offset(std::int64_t index) const {
    return block(index) * block_bytes;
  }

  /// The blocks that one flow of control reads.
  class reader {
   public:
    explicit reader(const problem& work) : work_(work) {}
    /// Read number `index` returned `bytes`, and this is the block.
    void took(std::int64_t index, std::int64_t bytes, const void* block);

   private:
    friend problem;
    const problem& work_;
    std::int64_t right_ = 0;
    std::uint64_t indices_ = 0;  // their sum
  };
  /// Once for each reader, at its end. From any thread.
  void finish(const reader& ended);

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  std::int64_t count_;
  unsigned depth_;
  std::string io_;
  std::uint64_t blocks_;
  int fd_;
  std::atomic<std::int64_t> right_ = 0;
  std::atomic<std::uint64_t> indices_ = 0;
};

}  // namespace heddle::lab::io_random
