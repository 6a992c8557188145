#pragma once

#include <memory>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "heddle/coop/detail/strand_attachments.hpp"
#include "heddle/coop/detail/timer_queue.hpp"
#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/scope.hpp"
#include "heddle/coop/strand.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/when.hpp"

namespace heddle::coop {

/// Names a value of type T in a strand_context. The variable itself is the name.
///
///     inline const context_key<std::string> request_id;
template <class T>
class context_key {
 public:
  constexpr context_key() noexcept = default;
  context_key(const context_key&) = delete;
  context_key& operator=(const context_key&) = delete;
};

/// What a strand and all that it spawns run in: a deadline, a cancellation and values, without
/// being handed from function to function. A strand that is spawned by another one inherits its
/// context; one that is posted, or spawned in another group, does not.
///
///     const strand_context request = strand_context::current()
///                                        .with(request_id, "4711")
///                                        .with_timeout(2s);
///     const std::optional<page> answer = co_await in_context(request, answer_to(question));
///
/// At the deadline, or by cancel(), every strand in the context, and in those made of it, is
/// cancelled (strand_ref::cancel()). Copies are the same context. Like all that strands share, it
/// belongs to one scheduler.
class strand_context {
 public:
  /// The empty one: it has no deadline and no value.
  strand_context() noexcept = default;
  /// That of the running strand; the empty one outside of strands.
  [[nodiscard]] static strand_context current() noexcept;

  // Contexts that are made of this one: its deadline, its cancellation and its values are theirs.

  template <class T>
  [[nodiscard]] strand_context with(const context_key<T>& key,
                                    std::type_identity_t<T> value) const {
    return with_value(&key, std::make_shared<const T>(std::move(value)));
  }
  /// From the moment of the call, by the running scheduler's clock; on no strand, by the steady
  /// clock. The earlier deadline counts.
  [[nodiscard]] strand_context with_timeout(detail::length limit) const;
  [[nodiscard]] strand_context with_deadline(time_point deadline) const;
  /// To be cancelled without this one.
  [[nodiscard]] strand_context with_cancellation() const;

  /// The value of this name; null if there is none. It lives as long as a context that has it.
  template <class T>
  [[nodiscard]] const T* find(const context_key<T>& key) const noexcept {
    return static_cast<const T*>(find_value(&key));
  }
  /// The earliest, of this one and those that it is made of.
  [[nodiscard]] std::optional<time_point> deadline() const noexcept;

  /// Cancels the strands in it and in contexts that are made of it, and those that enter it later.
  /// The caller, if it is one of them, at its next wait. Nothing if it is over already, or is the
  /// empty one.
  void cancel() const;
  /// Whether it is over, and why: std::errc::timed_out, std::errc::operation_canceled.
  [[nodiscard]] std::error_code error() const noexcept;

 private:
  friend void detail::enter_context(detail::strand_block&, const strand_context&);
  explicit strand_context(std::shared_ptr<detail::context_node> node) noexcept
      : node_(std::move(node)) {}
  [[nodiscard]] strand_context with_value(const void* key, std::shared_ptr<const void> value) const;
  [[nodiscard]] const void* find_value(const void* key) const noexcept;

  std::shared_ptr<detail::context_node> node_;
};

namespace detail {

template <class T>
struct context_body {
  strand_context context;
  task<T> what;
  using result = typename within_result<T>::type;

  task<result> operator()(scope& in) {
    const strand<T> work = in.spawn(std::move(what));
    enter_context(work.block(), context);
    co_await when_any(work);
    if (!work.block().error() && work.block().cancelled) co_return result{};
    if constexpr (std::is_void_v<T>) {
      take_result(work);
      co_return true;
    } else {
      co_return take_result(work);
    }
  }
};

}  // namespace detail

/// Runs a task in the context, and results in an optional of its result (std::reference_wrapper for
/// a reference), empty if the context was over before the task was (`context.error()` says why); in
/// a bool if it has none. What it throws, also while it is cancelled, is thrown. In a fiber:
/// `await(in_context(context, on_fiber(body)))`.
///
/// A task itself: suspends until that one has ended; made ready by its end, from inside the
/// scheduler, on this thread. Cancelled while it waits: it passes that on, and waits for the end.
/// Costs a strand.
template <class T>
[[nodiscard]] auto in_context(strand_context context, task<T> what) {
  using body = detail::context_body<T>;
  using result = typename body::result;
  return detail::task_in_scope<result>(
      nullptr, detail::scope_body<result>(body{std::move(context), std::move(what)}),
      on_failure::keep_on);
}

}  // namespace heddle::coop
