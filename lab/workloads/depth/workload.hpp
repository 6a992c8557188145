#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "harness/model.hpp"

namespace heddle::lab::depth {

/// One logical call after another: a chain of `depth` calls, each of which adds its number to what
/// the one inside it returns.
///
/// - `chain=source`: as async_simple's benchmark has it. Nothing waits. The stackful coroutine is
///   made for each chain, on a stack of 512 KB that was not used before, and runs a plain function,
///   of whose recursion the compiler may make a loop; GCC does, from -O2 on.
/// - `chain=waiting`: like for like. Each call stays a call, the innermost waits once, which is
///   what such a chain is for, and a stack is used again by the next chain.
///
/// serial is the plain function on the stack of the main program: it cannot wait.
///
/// Oracle: each chain returns 1 + … + depth, less `depth`.
///
/// Metrics: `chain_ns` = wall / chains; `chain_cpu_ns` = processor time / chains, which other
/// programs on a busy machine spoil less; `call_cpu_ns` = the same a call.
class problem {
 public:
  static constexpr std::string_view name = "depth";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] std::int64_t depth() const { return depth_; }
  [[nodiscard]] bool waits() const { return waits_; }
  /// Chains that are run one after another: as many as have `work` calls, or `most`.
  [[nodiscard]] std::int64_t chains(
      std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  /// Takes the result of a chain.
  void take(std::int64_t sum) {
    ++chains_;
    wrong_ += sum != depth_ * (depth_ - 1) / 2;
  }

  /// A model whose calls are plain ones.
  void makes_plain_calls() { plain_calls_ = true; }

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  std::int64_t depth_;
  std::int64_t work_;
  bool waits_;
  bool plain_calls_ = false;
  std::int64_t chains_ = 0;
  std::int64_t wrong_ = 0;
};

/// The chain of plain calls as the source wrote it, n + 1 of them.
inline std::int64_t sum(std::int64_t n) {
  if (n == 0) return 0;
  return n + sum(n - 1);
}

/// The same with calls that stay calls; the innermost calls `wait`.
template <class Wait>
[[gnu::noinline]] std::int64_t sum_by_calls(std::int64_t n, Wait& wait) {
  if (n == 0) {
    wait();
    return 0;
  }
  std::int64_t inner = sum_by_calls(n - 1, wait);
  asm volatile("" : "+r"(inner));  // there is something to come back for
  return n + inner;
}

}  // namespace heddle::lab::depth
