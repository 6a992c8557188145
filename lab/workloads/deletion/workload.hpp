#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model.hpp"

namespace heddle::lab::deleting {

/// `contexts` contexts yield `counter` times each to a scheduler, in turn, and then are deleted
/// where they stand, suspended: what a reader of the FiberContext article asked about. Each holds
/// an object with a destructor and has touched all of its stack but a page.
///
/// - fiber/…: the four functions of our FiberContext API, on each of its mechanisms. The oracle
/// wants
///   every stack unwound and no thread left.
/// - fiber/article: the article's own implementation by pthreads.
///
/// Metrics: `delete_ns` = the time in which all are deleted / contexts.
///
/// Counters: `threads_left`, kernel threads that are still there when all contexts are deleted, for
/// each of them, and `threads_gone`, the rest of 1; `unwound`, contexts whose objects were
/// destructed, for each of them; `small_stack_error`: 1 if a stack below the minimum is an error
/// that says so, 0 if it ends the program; `delete_hangs` (fiber/article): 1 if deletion as it is
/// printed there never returns.
class problem {
 public:
  static constexpr std::string_view name = "deletion";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] std::int64_t contexts() const { return contexts_; }
  [[nodiscard]] std::int64_t counter() const { return counter_; }
  [[nodiscard]] std::uint32_t stack_bytes() const { return stack_bytes_; }

  /// The body of every context; `yield` goes to the scheduler and comes back.
  template <class Yield>
  void context(const Yield& yield) {
    const guard on_stack{*this};
    touch_stack();
    for (std::int64_t i = 0; i < counter_; ++i) {
      ++yields_;
      yield();
    }
  }

  /// The model: nothing may be left of a context that was deleted.
  void promise_to_unwind() { promised_ = true; }
  /// Before there is a context, and when all are deleted.
  void count_threads_before();
  void count_threads_after();
  /// Asked for a stack below the minimum: whether there was an error, and what it says.
  void small_stack(bool refused, std::string_view message);
  void delete_hangs(bool hangs) { hangs_ = hangs ? 1 : 0; }

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  struct guard {
    problem& work;
    ~guard() { ++work.unwound_; }
  };

  void touch_stack() const;

  std::int64_t contexts_;
  std::int64_t counter_;
  std::uint32_t stack_bytes_;
  std::int64_t yields_ = 0;
  std::int64_t unwound_ = 0;
  std::int64_t threads_before_ = 0;
  std::int64_t threads_left_ = 0;
  bool promised_ = false;
  bool small_stack_error_ = false;
  std::string small_stack_message_;
  int hangs_ = -1;  // not asked
};

/// The end of `body`, run in a process of its own.
enum class fate { returned, aborted, hangs };

/// Runs it, and waits until it has ended or will never: all its threads sleep, and go on to.
[[nodiscard]] fate fate_of(const std::function<void()>& body);

}  // namespace heddle::lab::deleting
