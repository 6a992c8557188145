// The interface of every fiber library for the scenarios; one library's file is linked.
#pragma once

#include <cstddef>

#include "../truth.hpp"

namespace library {

struct plan {
  /// Runs as a fiber for each number from 1 to `count`. Begins on a strand that truth does not
  /// know.
  void (*entry)(unsigned number) = nullptr;
  unsigned count = 0;
  /// Fibers that are alive at the same time, at most.
  unsigned at_once = 8;
  /// 0: small_stack.
  std::size_t stack_bytes = 0;
  /// Kernel threads that run them. More than one: fibers move from one to another, which not every
  /// library allows.
  unsigned threads = 1;
  /// One in so many turns a fiber is destroyed instead, in the middle of its calls, where the
  /// library can; 0: never.
  unsigned destroyed = 0;
};

/// Runs all fibers of the plan, whatever the order, and returns when all are gone.
void run(const plan& what);

/// The strand that makes the fibers that begin on this kernel thread. Null: the strand that runs
/// them first counts as their maker, as their scheduler is traced.
inline thread_local const truth::strand* maker = nullptr;

/// Lets others run.
void give_way();

/// The smallest stack, in bytes, on which calls can be traced.
extern const std::size_t small_stack;

}  // namespace library
