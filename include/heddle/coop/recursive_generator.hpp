#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include "heddle/coop/context/context.hpp"
#include "heddle/coop/detail/frame_pool.hpp"

namespace heddle::coop {

/// A generator that can put all elements of another one of its type in the place of an element:
///
///     recursive_generator<int> in_order(const node* n) {
///       if (n->left) co_yield in_order(n->left);
///       co_yield n->value;
///       if (n->right) co_yield in_order(n->right);
///     }
///     for (int value : in_order(tree)) …
///
/// An element costs the same at any depth of nesting: `++` resumes the innermost body itself, not
/// through those around it. Neither walking nor destroying it nests calls, so that the depth is
/// limited by memory, not by the call stack, in unoptimised code too.
///
/// An input range, to be walked once. Suspends at the start and at each co_yield; resumed by the
/// iterator's `++` (and begin()), on that thread, inside that call, which rethrows what the
/// outermost body throws. What an inner body throws comes out of the `co_yield` that it stands in.
/// A generator that is yielded must not have been started; once moved from, it is empty.
/// An inner body is destroyed at its end, the outermost with its generator; destroying that
/// destroys all suspended bodies, the innermost first. `T` may be a reference; elements live until
/// the next `++`.
template <class T>
class [[nodiscard("a generator does nothing until it is iterated")]] recursive_generator {
  using element = std::remove_reference_t<std::conditional_t<std::is_reference_v<T>, T, const T>>;

 public:
  using value_type = std::remove_cvref_t<T>;
  using reference = std::conditional_t<std::is_reference_v<T>, T, const T&>;
  class promise_type;

 private:
  using handle = std::coroutine_handle<promise_type>;

  // The awaiter of a `co_yield inner`.
  struct all_of {
    promise_type* outermost;
    promise_type* inner;
    bool await_ready() const noexcept { return inner == nullptr; }
    // Not a symmetric transfer, but a return to advance(), which goes on with the new innermost: a
    // transfer is a call below -O2, and GCC 12 cannot compile it with -finstrument-functions at
    // -O2. It costs no more here.
    void await_suspend(handle outer) const noexcept { outer.promise().begin(*inner); }
    void await_resume() const {
      if (outermost->error_) [[unlikely]] {
        std::rethrow_exception(std::exchange(outermost->error_, nullptr));
      }
    }
  };

  // The end of a body. An inner one destroys itself, which saves resuming it for that; the
  // outermost stays, for its iterator.
  struct up {
    bool leaves;
    bool await_ready() const noexcept { return leaves; }
    void await_suspend(handle) const noexcept {}
    void await_resume() const noexcept {}
  };

 public:
  class promise_type : public detail::pooled_frame {
   public:
    recursive_generator get_return_object() noexcept {
      return recursive_generator(handle::from_promise(*this));
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    up final_suspend() const noexcept {
      end();
      if (outer_ == nullptr) return {false};
      owner_->coroutine_ = {};
      return {true};
    }
    // The element lives in the coroutine until it is resumed, so its address is enough.
    std::suspend_always yield_value(element& value) noexcept {
      outermost_->element_ = std::addressof(value);
      return {};
    }
    std::suspend_always yield_value(element&& value) noexcept {
      outermost_->element_ = std::addressof(value);
      return {};
    }
    all_of yield_value(recursive_generator&& inner) const noexcept {
      if (!inner.coroutine_) return {outermost_, nullptr};
      promise_type& promise = inner.coroutine_.promise();
      promise.owner_ = &inner;
      return {outermost_, &promise};
    }
    void return_void() const noexcept {}
    // Kept for the body around this one, or for advance(). Not thrown on, out of resume(): Clang 16
    // would take the coroutine to be still where it last suspended, and destroy its locals twice.
    void unhandled_exception() const noexcept { outermost_->error_ = std::current_exception(); }
    // A generator is a sequence for a loop, not something that waits.
    void await_transform() = delete;

   private:
    friend recursive_generator;

    void begin(promise_type& inner) noexcept {
      if (inner.innermost_ != nullptr) [[unlikely]] {
        detail::fatal("a recursive_generator is yielded after its iteration began");
      }
      inner.outer_ = this;
      inner.outermost_ = outermost_;
      outermost_->innermost_ = &inner;
    }
    void end() const noexcept { outermost_->innermost_ = outer_; }

    // Invariant, seen from the outermost: following outer_ from innermost_ leads to it, over all
    // bodies that have begun and not ended.
    promise_type* outermost_ = this;
    promise_type* outer_ = nullptr;
    recursive_generator* owner_;  // of an inner one, in its outer's frame

    // In the outermost alone:
    promise_type* innermost_ = nullptr;  // null before the start and at the end
    element* element_;                   // null while a body runs
    std::exception_ptr error_;           // on its way from an inner body to its outer
  };

  class iterator {
   public:
    using value_type = recursive_generator::value_type;
    using difference_type = std::ptrdiff_t;

    iterator() noexcept = default;
    iterator& operator++() {
      advance(*outermost_);
      return *this;
    }
    void operator++(int) { ++*this; }
    reference operator*() const noexcept { return static_cast<reference>(*outermost_->element_); }
    friend bool operator==(const iterator& it, std::default_sentinel_t) noexcept {
      return it.ended();
    }

   private:
    friend recursive_generator;
    explicit iterator(promise_type* outermost) noexcept : outermost_(outermost) {}
    bool ended() const noexcept {
      return outermost_ == nullptr || outermost_->innermost_ == nullptr;
    }
    promise_type* outermost_ = nullptr;
  };

  recursive_generator(recursive_generator && other) noexcept
      : coroutine_(std::exchange(other.coroutine_, {})) {}
  recursive_generator& operator=(recursive_generator&& other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  ~recursive_generator() {
    if (!coroutine_) return;
    if (coroutine_.promise().innermost_ != nullptr) destroy_inner(coroutine_.promise());
    coroutine_.destroy();
  }

  /// Runs the body up to its first element. Call it once.
  [[nodiscard]] iterator begin() {
    if (!coroutine_) return {};
    promise_type& outermost = coroutine_.promise();
    outermost.innermost_ = &outermost;
    advance(outermost);
    return iterator(&outermost);
  }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

 private:
  explicit recursive_generator(handle coroutine) noexcept : coroutine_(coroutine) {}

  // Runs the innermost body until one yields or the outermost ends. An error resumes body after
  // body, outwards, until one catches it: see all_of.
  static void advance(promise_type & outermost) {
    outermost.element_ = nullptr;
    do {
      handle::from_promise(*outermost.innermost_).resume();
      if (outermost.element_ != nullptr) return;
    } while (outermost.innermost_ != nullptr);
    if (outermost.error_) [[unlikely]] {
      std::rethrow_exception(std::exchange(outermost.error_, nullptr));
    }
  }

  // From the inside, as nested destructors would, but without nesting them.
  [[gnu::cold]] static void destroy_inner(promise_type & self) noexcept {
    for (promise_type* each = self.innermost_; each != &self;) {
      promise_type* const next = each->outer_;
      std::exchange(each->owner_->coroutine_, {}).destroy();
      each = next;
    }
  }

  handle coroutine_;
};

}  // namespace heddle::coop
