// A task whose body begins when it is awaited, and resumes its waiter inside of its last call: no
// transfer, so that the compiler's traps with that do not matter.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "../truth.hpp"

template <class T>
class task {
 public:
  struct promise_type {
    T value{};
    std::exception_ptr thrown;
    task get_return_object() {
      return task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_value(T result) { value = std::move(result); }
    void unhandled_exception() { thrown = std::current_exception(); }
  };
  using handle_type = std::coroutine_handle<promise_type>;

  explicit task(handle_type handle) : handle_(handle) {}
  task(task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  PLAIN ~task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const { return false; }
  /// Runs it to its end, however often it suspends.
  PLAIN bool await_suspend(std::coroutine_handle<>) const {
    while (!handle_.done()) handle_.resume();
    return false;
  }
  T await_resume() const {
    if (handle_.promise().thrown) std::rethrow_exception(handle_.promise().thrown);
    return handle_.promise().value;
  }

  handle_type handle() const { return handle_; }

 private:
  handle_type handle_;
};
