#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "heddle/coop/detail/frame_pool.hpp"
#include "heddle/coop/detail/strand_block.hpp"

namespace heddle::coop {

template <class T>
class task;

namespace detail {

/// Ends the program with a message: what is awaited has been awaited before, or is `empty`, because
/// the task was moved from.
[[noreturn]] void awaited_in_vain(bool empty) noexcept;
/// The strand has ended by `error`: as run_guarded(), without another throw.
void fail_by(strand_block& strand, std::exception_ptr error);
/// The same, by what it takes out of `error`: without an object on the stack of the caller, whose
/// plain way would have to make room for it.
void fail_by_taken(strand_block& strand, std::exception_ptr& error);

// The part of a task's promise that does not depend on the task's result.
class task_promise_base : public pooled_frame {
 public:
  struct final_awaiter {
    bool leaves;
    bool await_ready() const noexcept { return leaves; }
    // Symmetric transfer: a chain of any length ends without nesting calls. (GCC makes it a tail
    // call from -O2 on; below that each transfer is a call, and a long chain needs as much stack.)
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      return self.promise().continuation();
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  final_awaiter final_suspend() const noexcept {
    if (!is_told()) return {false};
    told_at_end().resume(&told_at_end());
    return {true};
  }

  /// Whether nobody has awaited it or started it for a strand.
  [[nodiscard]] bool is_new() const noexcept {
    return continuation_ == reinterpret_cast<std::uintptr_t>(std::noop_coroutine().address());
  }
  void continue_with(std::coroutine_handle<> continuation) noexcept {
    continuation_ = reinterpret_cast<std::uintptr_t>(continuation.address());
  }
  /// At its end the coroutine calls `owner.resume(&owner)`, which takes the result, and is gone:
  /// that costs less than to resume the owner, which would have to come back to destroy it. Without
  /// a result it ends the strand itself.
  void tell(strand_block& owner) noexcept {
    continuation_ = reinterpret_cast<std::uintptr_t>(&owner) + told;
  }

 protected:
  /// Otherwise a coroutine goes on.
  [[nodiscard]] bool is_told() const noexcept { return (continuation_ & told) != 0; }
  [[nodiscard]] strand_block& told_at_end() const noexcept {
    return *reinterpret_cast<strand_block*>(continuation_ - told);
  }

 private:
  static constexpr std::uintptr_t told = 1;  // in the lowest bit, which no address has

  [[nodiscard]] std::coroutine_handle<> continuation() const noexcept {
    return std::coroutine_handle<>::from_address(reinterpret_cast<void*>(continuation_));
  }

  std::uintptr_t continuation_ = reinterpret_cast<std::uintptr_t>(std::noop_coroutine().address());
};

template <class T>
class task_promise : public task_promise_base {
 public:
  task<T> get_return_object() noexcept;
  template <class U>
  requires std::is_convertible_v<U&&, T>
  void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U&&>) {
    result_.template emplace<1>(std::forward<U>(value));
  }
  void unhandled_exception() noexcept { result_.template emplace<2>(std::current_exception()); }
  [[nodiscard]] bool failed() const noexcept { return result_.index() == 2; }
  std::exception_ptr take_error() noexcept { return std::get<2>(std::move(result_)); }
  T take() {
    if (auto* error = std::get_if<2>(&result_)) std::rethrow_exception(*error);
    return std::move(std::get<1>(result_));
  }

 private:
  std::variant<std::monostate, T, std::exception_ptr> result_;
};

template <class T>
class task_promise<T&> : public task_promise_base {
 public:
  task<T&> get_return_object() noexcept;
  void return_value(T& value) noexcept { value_ = std::addressof(value); }
  void unhandled_exception() noexcept { error_ = std::current_exception(); }
  [[nodiscard]] bool failed() const noexcept { return error_ != nullptr; }
  std::exception_ptr take_error() noexcept { return std::move(error_); }
  T& take() {
    if (error_) std::rethrow_exception(error_);
    return *value_;
  }

 private:
  T* value_ = nullptr;
  std::exception_ptr error_;
};

template <>
class task_promise<void> : public task_promise_base {
 public:
  task<void> get_return_object() noexcept;
  final_awaiter final_suspend() noexcept {
    if (!is_told()) return {false};
    told_at_end().status = strand_status::finished;
    if (error_) [[unlikely]] {
      fail_by_taken(told_at_end(), error_);
    }
    return {true};
  }
  void return_void() const noexcept {}
  void unhandled_exception() noexcept { error_ = std::current_exception(); }
  [[nodiscard]] bool failed() const noexcept { return error_ != nullptr; }
  std::exception_ptr take_error() noexcept { return std::move(error_); }
  void take() {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::exception_ptr error_;
};

}  // namespace detail

/// A function that can wait: a coroutine that starts when it is awaited and hands its result, or
/// its exception, to the one that awaits it. Move-only; awaited once: a second time ends the
/// program with a message.
///
///     task<int> twice(task<int> t) { co_return 2 * co_await std::move(t); }
///
/// `co_await` suspends the awaiting coroutine and starts the task in its place, on the same thread;
/// when the task ends, the caller that resumed it last resumes the awaiting one inside the same
/// call. Destroying a task that is suspended destroys its frame and what lives in it; the awaiting
/// coroutine is then never resumed (it owns the task, as a rule, and is being destroyed itself).
///
/// Outside of coroutines a driver runs it by resume() until done().
template <class T = void>
class [[nodiscard("a task does nothing until it is awaited or resumed")]] task {
 public:
  using promise_type = detail::task_promise<T>;

  task(const task&) = delete;  // instead: std::move(t), as it is awaited or spawned once
  task(task && other) noexcept : coroutine_(std::exchange(other.coroutine_, {})) {}
  task& operator=(task&& other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  ~task() {
    if (coroutine_) coroutine_.destroy();
  }

  /// Awaits the result.
  auto operator co_await()&& noexcept {
    require_new();
    struct awaiter {
      std::coroutine_handle<promise_type> coroutine;
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) const noexcept {
        coroutine.promise().continue_with(awaiting);
        return coroutine;
      }
      T await_resume() const { return coroutine.promise().take(); }
    };
    return awaiter{coroutine_};
  }
  void operator co_await()& = delete;  // instead: co_await std::move(t), as it is awaited once

  /// For a scheduler: what to resume to start it; `continuation` is resumed when it has ended.
  std::coroutine_handle<> start(std::coroutine_handle<> continuation) const noexcept {
    require_new();
    coroutine_.promise().continue_with(continuation);
    return coroutine_;
  }
  /// For a scheduler: gives the coroutine away; the caller must destroy it.
  [[nodiscard("it is never destroyed")]] std::coroutine_handle<promise_type> release()&& noexcept {
    require_new();
    return std::exchange(coroutine_, {});
  }
  /// For a driver: runs on to the next suspension. Not after done().
  void resume() const { coroutine_.resume(); }
  /// For a driver: whether it has ended, by a result or an exception.
  [[nodiscard]] bool done() const noexcept { return coroutine_.done(); }
  /// For a driver, once done(): moves the result out, or rethrows.
  T result() const { return coroutine_.promise().take(); }

 private:
  friend promise_type;
  void require_new() const noexcept {
    if (!coroutine_ || !coroutine_.promise().is_new()) [[unlikely]] {
      detail::awaited_in_vain(!coroutine_);
    }
  }
  explicit task(std::coroutine_handle<promise_type> coroutine) noexcept : coroutine_(coroutine) {}

  std::coroutine_handle<promise_type> coroutine_;
};

template <class T>
task<T> detail::task_promise<T>::get_return_object() noexcept {
  return task<T>{std::coroutine_handle<task_promise>::from_promise(*this)};
}

template <class T>
task<T&> detail::task_promise<T&>::get_return_object() noexcept {
  return task<T&>{std::coroutine_handle<task_promise>::from_promise(*this)};
}

inline task<void> detail::task_promise<void>::get_return_object() noexcept {
  return task<void>{std::coroutine_handle<task_promise>::from_promise(*this)};
}

}  // namespace heddle::coop
