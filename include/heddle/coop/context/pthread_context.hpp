#pragma once

#include <pthread.h>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string_view>

#include "heddle/coop/context/context.hpp"

namespace heddle::coop {

/// A kernel thread a context; one runs, the others wait, each at its own condition variable. It has
/// what threads have: a debugger that knows its stack, `thread_local` variables of its own, and the
/// price of a hand-over through the kernel.
///
/// The thread is started by the first switch to the context (which throws std::system_error if the
/// kernel has no more) and is joined when the context is destroyed, so nothing of it remains and no
/// condition variable is destroyed while a thread uses it.
class pthread_context {
 public:
  static constexpr std::string_view name = "pthread";

  /// PTHREAD_STACK_MIN as the running system has it, in bytes.
  [[nodiscard]] static std::size_t minimum_stack_bytes() noexcept;

  pthread_context() noexcept;
  pthread_context(entry_function entry, void* argument, std::size_t stack_bytes);
  ~pthread_context();

  pthread_context(const pthread_context&) = delete;
  pthread_context& operator=(const pthread_context&) = delete;

  /// See the concept `context`.
  static void switch_to(pthread_context& from, pthread_context& to);

  /// Like switch_to, but returns why `from` runs again instead of throwing. Told to `unwind`, the
  /// caller returns from its entry function as soon as it can; for code without exceptions.
  [[nodiscard("a context told to unwind must end")]] static resume_reason transfer(
      pthread_context& from, pthread_context& to);

 private:
  enum class turn { suspended, run, unwind };

  static void* start(void* self) noexcept;
  void start_thread(pthread_context* home);
  void give(turn what) noexcept;
  turn wait() noexcept;

  std::mutex mutex_;
  std::condition_variable resumed_;
  turn turn_ = turn::suspended;  // guarded by mutex_

  pthread_context* home_ = nullptr;
  entry_function entry_ = nullptr;
  void* argument_ = nullptr;
  std::size_t stack_bytes_ = 0;
  pthread_t thread_{};
  bool started_ = false;
  bool unwinding_ = false;  // written by the destructor before it resumes us for the last time
  bool finished_ = false;   // written by our thread before it hands over for the last time
};

}  // namespace heddle::coop
