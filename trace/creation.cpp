// pthread_create and C11's thrd_create, so that a new thread knows its creator's record of it.
// libc's own threads (those of timers and asynchronous I/O) and those of clone(2) are created
// without them.
#include "creation.hpp"

#include <pthread.h>
#include <threads.h>

#include <cstddef>

#include "interpose.hpp"
#include "making.hpp"
#include "thread.hpp"

namespace heddle::trace {

namespace {

using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
using CreateC = int(thrd_t*, thrd_start_t, void*);
constinit Create* real_create = nullptr;
constinit CreateC* real_create_c = nullptr;

/// What a new thread is given in place of its argument, until it begins. A child of fork has those
/// for ever that its parent's threads were given at the time.
struct Start {
  std::uint32_t taken;
  std::uint32_t instance, making;
  std::uint64_t stack;  ///< the lowest address of the one that the thread is given; 0 = none
  union {
    void* (*routine)(void*);  ///< pthread_create's
    int (*routine_c)(void*);  ///< thrd_create's
  };
  void* argument;
};

/// In the library's own data, where leak checkers look for pointers, too.
constexpr std::uint32_t kStarts = 1024;
constinit Start starts[kStarts] = {};
constinit std::uint32_t latest_start = 0;

/// Null if too many threads have been created and have not begun.
Start* take_start() {
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    Start& start = starts[__atomic_add_fetch(&latest_start, 1, __ATOMIC_RELAXED) % kStarts];
    std::uint32_t free = 0;
    // Acquire: the thread that had it has read it.
    if (__atomic_compare_exchange_n(&start.taken, &free, 1, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
      return &start;
    }
  }
  return nullptr;
}

void give_back(Start& start) { __atomic_store_n(&start.taken, 0, __ATOMIC_RELEASE); }

/// Where a new thread begins. It goes on in the program's routine by a jump, so that nothing of
/// ours is on its stack, and the routine's caller is libc.
template <auto kRoutine>
auto begin(void* given) {
  Start& start = *static_cast<Start*>(given);
  local.made_instance = start.instance;
  local.making = start.making;
  local.given_stack = start.stack;
  auto* const routine = start.*kRoutine;
  void* const argument = start.argument;
  give_back(start);
  return routine(argument);
}

/// The lowest address of the stack that these attributes give a thread; 0 if libc is to make one.
std::uint64_t stack_given(const pthread_attr_t* attributes) {
  void* stack = nullptr;
  std::size_t bytes = 0;
  if (attributes == nullptr || pthread_attr_getstack(attributes, &stack, &bytes) != 0) return 0;
  // libc keeps the highest address, which is 0 where none was given.
  const auto low = reinterpret_cast<std::uint64_t>(stack);
  return low + bytes == 0 ? 0 : low;
}

/// Null: the thread is to begin as if we were not there.
Start* prepare(void* argument, std::uint64_t stack) {
  Process* const current = process();
  const bool records = current != nullptr && attached();
  if (!records && stack == 0) return nullptr;
  Start* const start = take_start();
  if (start == nullptr) return nullptr;
  const std::uint32_t making = records ? record_making(*current, Making::kThread) : 0;
  if (making == 0 && stack == 0) {
    give_back(*start);
    return nullptr;
  }
  start->instance = process_instance;
  start->making = making;
  start->stack = stack;
  start->argument = argument;
  return start;
}

}  // namespace

void find_creation() {
  (void)next(real_create, "pthread_create");
  (void)next(real_create_c, "thrd_create");
}

}  // namespace heddle::trace

extern "C" {

[[gnu::visibility("default")]] int pthread_create(pthread_t* thread,
                                                  const pthread_attr_t* attributes,
                                                  void* (*routine)(void*),
                                                  void* argument) noexcept {
  using namespace heddle::trace;
  auto* const real = next(real_create, "pthread_create");
  Start* const start = prepare(argument, stack_given(attributes));
  if (start == nullptr) return real(thread, attributes, routine, argument);
  start->routine = routine;
  const int result = real(thread, attributes, begin<&Start::routine>, start);
  if (result != 0) give_back(*start);
  return result;
}

[[gnu::visibility("default")]] int thrd_create(thrd_t* thread, thrd_start_t routine,
                                               void* argument) {
  using namespace heddle::trace;
  auto* const real = next(real_create_c, "thrd_create");
  Start* const start = prepare(argument, 0);
  if (start == nullptr) return real(thread, routine, argument);
  start->routine_c = routine;
  const int result = real(thread, begin<&Start::routine_c>, start);
  if (result != thrd_success) give_back(*start);
  return result;
}
}
