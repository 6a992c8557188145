// What every coroutine of these programs has in common: each instance is a strand of its own.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "../chance.hpp"

/// A promise's share in truth. The running strand is set before control goes to a coroutine, and by
/// call::back() when it has come back.
struct strand_of {
  PLAIN strand_of() : own(new truth::strand(truth::kind::coroutine)) {}
  truth::strand* own;
};

/// The coroutine runs next on this thread.
template <class Promise>
PLAIN void runs_next(std::coroutine_handle<Promise> next) {
  truth::running() = next.promise().own;
}

/// Runs it until it suspends or ends. Its caller calls back() then.
template <class Promise>
PLAIN void resume(std::coroutine_handle<Promise> handle) {
  runs_next(handle);
  handle.resume();
}

/// What its locals' destructors do is still done on its strand.
template <class Promise>
PLAIN void destroy(std::coroutine_handle<Promise> handle) {
  runs_next(handle);
  handle.destroy();
}

/// Starts at once: from the first line of its body on, the ramp's caller does not run.
struct begins_at_once {
  truth::strand* own;
  bool await_ready() noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) noexcept {}
  void await_resume() noexcept { truth::running() = own; }
};

/// A local that tells of its end.
struct guard {
  TRACED ~guard() { const truth::call here{"~guard"}; }
};
