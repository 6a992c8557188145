#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/coop/await.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/strand.hpp"

namespace heddle::coop {

/// What a scope does when a strand in it throws.
enum class on_failure {
  cancel_others,  // and throw it from join()
  keep_on,        // it is for those who join the strand
};

/// Strands that do not outlive the block of code that spawned them: structured concurrency. What
/// they refer to in that block is there until they have ended. Made by in_scope().
///
/// When one of them throws, the others are cancelled, and join() throws what it threw, the first if
/// there are several; unless made with on_failure::keep_on. A strand that is cancelled is no
/// failure.
class scope : private detail::strand_parent {
 public:
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] join_awaitable
      : public detail::awaitable<join_awaitable> {
   public:
    explicit join_awaitable(scope & of) noexcept : of_(of) {}
    bool ready() const noexcept { return of_.children_.empty(); }
    void park(detail::strand_block & self) noexcept { detail::wait_in(self, node_, of_.joiners_); }
    void get() const {
      if (of_.error_) std::rethrow_exception(std::exchange(of_.error_, nullptr));
    }

   private:
    scope& of_;
    detail::wait_node node_;
  };

  /// As join(), but neither a cancellation of the strand that waits nor an error ends it.
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] drain_awaitable
      : public detail::awaitable<drain_awaitable> {
   public:
    explicit drain_awaitable(scope & of) noexcept : of_(of) {}
    static constexpr bool shielded() noexcept { return true; }
    bool ready() const noexcept { return of_.children_.empty(); }
    void park(detail::strand_block & self) noexcept { detail::wait_in(self, node_, of_.joiners_); }
    void get() const noexcept {}

   private:
    scope& of_;
    detail::wait_node node_;
  };

  /// `name` is for the report of a deadlock.
  explicit scope(scheduler& on, std::string name = {},
                 on_failure policy = on_failure::cancel_others)
      : strand_parent{&child_ended},
        on_(on),
        policy_(policy),
        name_(std::move(name)),
        joiners_("scope", name_) {}
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  /// In a fiber: cancels the strands in it that have not ended, and waits until they have. A task's
  /// destructors cannot wait, so that there the program ends with a message: use in_scope().
  ~scope() {
    if (children_.empty()) return;
    cancel();
    if (children_.empty()) return;
    if (detail::current_strand == nullptr ||
        detail::current_strand->kind != detail::strand_kind::fiber) {
      detail::fatal("a scope is destroyed before the strands in it have ended; use in_scope()");
    }
    await(drain());
  }

  /// As scheduler::spawn(), in this scope.
  template <class F>
  auto spawn(F&& body, std::string name = {}) {
    auto handle = on_.spawn(std::forward<F>(body), std::move(name));
    detail::strand_block& child = handle.block();
    child.extra().parent = this;
    child.extra().child_index = children_.size();
    children_.push_back(&child);
    return handle;
  }

  /// Asks every strand in it to end; see strand_ref::cancel(). More may be spawned afterwards.
  void cancel() {
    for (std::size_t i = children_.size(); i-- > 0;) {
      // One that never ran ends at once, and the last takes its place: that was asked before.
      if (i < children_.size()) detail::cancel(*children_[i]);
    }
  }

  /// Waits until every strand in it has ended; throws the first error of one.
  /// Suspends if there are any; made ready by the end of the last one, from inside the scheduler,
  /// on this thread. Cancelled or destroyed while it waits: the strands go on.
  join_awaitable join() noexcept { return join_awaitable(*this); }
  /// Waits until every strand in it has ended, whatever happens.
  drain_awaitable drain() noexcept { return drain_awaitable(*this); }

  /// Strands in it that have not ended.
  [[nodiscard]] std::size_t alive() const noexcept { return children_.size(); }

 private:
  static void child_ended(detail::strand_parent& parent, detail::strand_block& child) {
    scope& self = static_cast<scope&>(parent);
    const std::size_t place = child.extra().child_index;
    self.children_[place] = self.children_.back();
    self.children_[place]->extra().child_index = place;
    self.children_.pop_back();
    if (child.error() && !self.error_ && self.policy_ == on_failure::cancel_others) {
      self.error_ = child.error();
      self.cancel();
    }
    if (!self.children_.empty()) return;
    while (!self.joiners_.empty()) scheduler::wake(*self.joiners_.first());
  }

  scheduler& on_;
  on_failure policy_;
  std::vector<detail::strand_block*> children_;
  std::exception_ptr error_;
  std::string name_;
  detail::wait_list joiners_;
};

namespace detail {

#if defined(__cpp_exceptions)
#define HEDDLE_TRY try
#define HEDDLE_CATCH_ALL catch (...)
#else
#define HEDDLE_TRY if constexpr (true)
#define HEDDLE_CATCH_ALL else
#endif

// A body of any type, owned. Erased, because GCC warns of coroutines in headers whose frames hold a
// local lambda ("has a field whose type has no linkage").
template <class T>
struct scope_body {
  std::unique_ptr<void, void (*)(void*)> code;
  task<T> (*call)(void* code, scope& children);

  template <class F>
  explicit scope_body(F&& body)
      : code(new std::decay_t<F>(std::forward<F>(body)),
             [](void* owned) { delete static_cast<std::decay_t<F>*>(owned); }),
        call([](void* owned, scope& children) -> task<T> {
          return (*static_cast<std::decay_t<F>*>(owned))(children);
        }) {}
};

/// The scheduler that runs the caller, which is a strand.
inline scheduler& running_scheduler() {
  if (current_strand == nullptr) [[unlikely]] {
    wait_by_wrong_kind(nullptr, strand_kind::none);
  }
  return *current_strand->owner;
}

// `on`: null for the scheduler that runs it.
template <class T>
task<T> task_in_scope(scheduler* on, scope_body<T> body,
                      on_failure policy = on_failure::cancel_others) {
  scope children(on != nullptr ? *on : running_scheduler(), {}, policy);
  std::exception_ptr error;
  std::optional<std::conditional_t<std::is_void_v<T>, no_value, T>> value;
  HEDDLE_TRY {
    if constexpr (std::is_void_v<T>) {
      co_await body.call(body.code.get(), children);
    } else {
      value.emplace(co_await body.call(body.code.get(), children));
    }
    co_await children.join();
  }
  HEDDLE_CATCH_ALL { error = std::current_exception(); }  // a handler cannot wait
  if (error) {
    children.cancel();
    co_await children.drain();
    std::rethrow_exception(error);
  }
  if constexpr (!std::is_void_v<T>) co_return std::move(*value);
}

#undef HEDDLE_TRY
#undef HEDDLE_CATCH_ALL

}  // namespace detail

/// Runs `body(scope&)`, waits until every strand that it spawned in the scope has ended, and
/// results in what the body results in. If the body throws (a cancellation is a throw), the strands
/// are cancelled and waited for first. In a fiber:
///
///     in_scope(s, [&](scope& all) { all.spawn(…); all.spawn(…); });
///
/// and in a task, with a body that is one:
///
///     co_await in_scope(s, [&](scope& all) -> task<> { all.spawn(…); co_await …; });
template <class F>
auto in_scope(scheduler& on, F body) {
  using result = std::invoke_result_t<F&, scope&>;
  if constexpr (detail::is_task<result>) {
    using value = typename detail::task_value<result>::type;
    return detail::task_in_scope<value>(&on, detail::scope_body<value>(std::move(body)));
  } else {
    scope children(on);
    if constexpr (std::is_void_v<result>) {
      body(children);
      await(children.join());
    } else {
      result value = body(children);
      await(children.join());
      return value;
    }
  }
}

}  // namespace heddle::coop
