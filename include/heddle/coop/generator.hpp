#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include "heddle/coop/detail/frame_pool.hpp"

namespace heddle::coop {

/// A lazy sequence: a coroutine that is resumed for each element, and suspended in between.
///
///     generator<int> upto(int n) { for (int i = 0; i < n; ++i) co_yield i; }
///     for (int i : upto(3)) …
///
/// An input range, to be walked once. Suspends at the start and at each co_yield; resumed by the
/// iterator's `++` (and begin()), on that thread, inside that call, which rethrows what the body
/// throws. Destroying the generator destroys the suspended body and what lives in it.
/// `T` may be a reference; elements live until the next `++`.
template <class T>
class [[nodiscard("a generator does nothing until it is iterated")]] generator {
 public:
  using value_type = std::remove_cvref_t<T>;
  using reference = std::conditional_t<std::is_reference_v<T>, T, const T&>;

  class promise_type : public detail::pooled_frame {
   public:
    generator get_return_object() noexcept { return generator{handle::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    // The element lives in the coroutine until it is resumed, so its address is enough.
    std::suspend_always yield_value(std::remove_reference_t<reference>& element) noexcept {
      element_ = std::addressof(element);
      return {};
    }
    std::suspend_always yield_value(std::remove_reference_t<reference>&& element) noexcept {
      element_ = std::addressof(element);
      return {};
    }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { exception_ = std::current_exception(); }
    // A generator is a sequence for a loop, not something that waits.
    void await_transform() = delete;

   private:
    friend generator;
    std::remove_reference_t<reference>* element_ = nullptr;
    std::exception_ptr exception_;
  };

  class iterator {
   public:
    using value_type = generator::value_type;
    using difference_type = std::ptrdiff_t;

    iterator() noexcept = default;
    iterator& operator++() {
      generator::resume(coroutine_);
      return *this;
    }
    void operator++(int) { ++*this; }
    reference operator*() const noexcept {
      return static_cast<reference>(*coroutine_.promise().element_);
    }
    friend bool operator==(const iterator& it, std::default_sentinel_t) noexcept {
      return it.coroutine_.done();
    }

   private:
    friend generator;
    explicit iterator(std::coroutine_handle<promise_type> coroutine) noexcept
        : coroutine_(coroutine) {}
    std::coroutine_handle<promise_type> coroutine_;
  };

  generator(generator && other) noexcept : coroutine_(std::exchange(other.coroutine_, {})) {}
  generator& operator=(generator&& other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  ~generator() {
    if (coroutine_) coroutine_.destroy();
  }

  /// Runs the body up to its first element. Call it once.
  [[nodiscard]] iterator begin() {
    resume(coroutine_);
    return iterator{coroutine_};
  }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

 private:
  using handle = std::coroutine_handle<promise_type>;

  explicit generator(handle coroutine) noexcept : coroutine_(coroutine) {}

  static void resume(handle coroutine) {
    coroutine.resume();
    if (coroutine.promise().exception_) {
      std::rethrow_exception(std::exchange(coroutine.promise().exception_, nullptr));
    }
  }

  handle coroutine_;
};

}  // namespace heddle::coop
