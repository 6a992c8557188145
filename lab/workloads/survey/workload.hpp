#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/model.hpp"

namespace heddle::lab::surveying {

/// The abilities and limits of a mechanism, each shown by a few lines that try it.
struct limits {
  bool keeps_locals = false;       ///< a local variable has its value after a yield
  bool yields_in_call = false;     ///< a function that is called can yield for its caller
  bool unwinds = false;            ///< what lives in a suspended one is destructed with it
  bool own_signal_mask = false;    ///< signals that it blocks are not blocked in others
  bool own_thread_locals = false;  ///< `thread_local` variables are not the others'
  std::int64_t minimum_stack_bytes = 0;
};

/// Memcheck's complaints about a run of a model: once where it is told of stacks, once where not.
struct memcheck_says {
  struct complaints {
    std::int64_t errors = 0;
    bool switching_stacks = false;
  };
  complaints told;
  complaints untold;
};

/// The survey of the FiberContext article: how coroutines are made in C and C++. Each mechanism
/// yields `yields` times to the main flow and back, and then shows its limits; what cannot run here
/// is a sentence in the experiment.
///
/// Metrics: `switch_ns` = wall / (2 × yields).
///
/// Counters, 1 or 0: those of `limits`; `loses_locals` and `no_yield_in_call`, the opposites;
/// `listed_threads`: the share of suspended strands that are kernel threads, which every debugger
/// lists.
///
/// A tool's answer takes half a second and is the same each time, so it is asked for in a cell's
/// first samples only, as many as the parameter says. With debugger=N, `debugger_frames`: the share
/// of suspended strands whose functions gdb shows in `thread apply all backtrace`. With valgrind=N,
/// what memcheck says of a small run of the same model: `valgrind_errors` and `valgrind_warns`, 1
/// if it says "client switching stacks?"; and both once more with the end `_untold`, where it has
/// not been told of stacks by VALGRIND_STACK_REGISTER. Libraries' own stacks it is never told of.
class problem {
 public:
  static constexpr std::string_view name = "survey";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] std::int64_t yields() const { return yields_; }
  /// A turn of the strand that is timed.
  void take_turn() { ++turns_; }

  void found(const limits& of_the_mechanism) {
    limits_ = of_the_mechanism;
    ++demonstrations_;
  }
  /// Number of strands that look_at() must find suspended inside a call of suspended_in_a_call().
  static constexpr int suspended = 3;
  /// The model, before it makes them, and while they are there.
  void look_before();
  void look_at();

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  std::int64_t yields_;
  bool debugger_;
  bool valgrind_;
  std::int64_t turns_ = 0;
  int demonstrations_ = 0;
  limits limits_;
  std::int64_t threads_before_ = 0;
  std::int64_t threads_ = 0;
  int frames_ = -1;  // no debugger was asked
  std::optional<memcheck_says> memcheck_;
};

/// Number of times that `function` is in the backtraces of this process's threads, as gdb prints
/// them without any help. Throws std::runtime_error if there is no gdb, or it may not look.
[[nodiscard]] int frames_in_gdb(std::string_view function);

/// Runs this program once more under Valgrind, with the model that it is running. Throws
/// std::runtime_error if there is no Valgrind, or the program fails under it.
[[nodiscard]] memcheck_says ask_memcheck();

/// What Valgrind has printed, split at the line by which a problem says that it deregisters stacks.
/// Throws std::runtime_error if lines are missing.
[[nodiscard]] memcheck_says parse_memcheck(std::string_view log);

}  // namespace heddle::lab::surveying
