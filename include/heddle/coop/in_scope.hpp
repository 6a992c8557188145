#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/scope.hpp"
#include "heddle/coop/strand.hpp"
#include "heddle/coop/task.hpp"

namespace heddle::coop {

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
  if (this_strand() == nullptr) [[unlikely]] {
    wait_by_wrong_kind(nullptr, strand_kind::none);
  }
  return *this_strand()->owner;
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
    std::rethrow_exception(children.failure_or(std::move(error)));
  }
  if constexpr (!std::is_void_v<T>) co_return std::move(*value);
}

#undef HEDDLE_TRY
#undef HEDDLE_CATCH_ALL

/// Runs `code(argument)`; results in what it throws, except forced_unwind, which goes on.
/// Not inline, so that a program compiled without exceptions can use scopes.
std::exception_ptr caught(void (*code)(void*), void* argument);

template <class F>
auto fiber_in_scope(scheduler& on, F& body) {
  using result = std::invoke_result_t<F&, scope&>;
  struct frame {
    F& body;
    scope children;
    std::optional<std::conditional_t<std::is_void_v<result>, no_value, result>> value = {};
  } self{body, scope(on)};
  // Not in a destructor: the fiber may be destroyed while it waits here, and unwinds then.
  const std::exception_ptr error = caught(
      [](void* argument) {
        auto& [code, children, value] = *static_cast<frame*>(argument);
        if constexpr (std::is_void_v<result>) {
          code(children);
        } else {
          value.emplace(code(children));
        }
        await(children.join());
      },
      &self);
  if (error) {
    self.children.cancel();
    await(self.children.drain());
    std::rethrow_exception(self.children.failure_or(error));
  }
  if constexpr (!std::is_void_v<result>) return result(std::move(*self.value));
}

template <class F>
auto in_scope_of(scheduler& on, F& body) {
  using result = std::invoke_result_t<F&, scope&>;
  if constexpr (is_task<result>) {
    using value = typename task_value<result>::type;
    return task_in_scope<value>(&on, scope_body<value>(std::move(body)));
  } else {
    static_assert(!std::is_reference_v<result>,
                  "return a pointer: what is in the scope may be gone");
    return fiber_in_scope(on, body);
  }
}

}  // namespace detail

/// Runs `body(scope&)`, waits until every strand that it spawned in the scope has ended, and
/// results in what the body results in. If the body throws (a cancellation is a throw), the strands
/// are cancelled and waited for first. What a strand throws when the body was cancelled is thrown
/// instead of the cancellation. In a fiber:
///
///     in_scope(s, [&](scope& all) { all.spawn(…); all.spawn(…); });
///
/// and in a task, with a body that is one:
///
///     co_await in_scope(s, [&](scope& all) -> task<> { all.spawn(…); co_await …; });
///
/// Suspends while the body does and then while strands run; made ready by the end of the last one,
/// from inside the scheduler, on this thread. Cancelled while it waits: it cancels the strands and
/// waits on until they have ended. Destroyed while it waits: by the scheduler's destructor alone,
/// which destroys the strands first.
template <class F>
auto in_scope(scheduler& on, F body) {
  static_assert(std::is_invocable_v<F&, scope&>,
                "in_scope(s, body) calls body(scope): take it by reference, [&](scope& all) { … }");
  if constexpr (std::is_invocable_v<F&, scope&>) return detail::in_scope_of(on, body);
}

}  // namespace heddle::coop
