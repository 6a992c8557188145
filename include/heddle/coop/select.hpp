#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "heddle/coop/await.hpp"
#include "heddle/coop/ext/wait_list.hpp"

namespace heddle::coop {

namespace detail {

/// A wait in one list, that knows when it has been granted: a push to a channel or a pop.
template <class A>
concept selectable = requires(A& a, const A& seen) {
  { a.ready() } -> std::same_as<bool>;
  { a.node() } -> std::same_as<several_node&>;
  { a.list() } -> std::same_as<wait_list&>;
  { seen.granted() } -> std::same_as<bool>;
  a.get();
};

/// Fair selections of this thread so far: where the next one begins.
inline constinit thread_local std::size_t fair_selections = 0;

/// Several waits, of which one is to happen: the first that can, or, if `Fair`, that is asked first
/// in turn.
template <bool Fair, selectable... As>
class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] select_awaitable
    : public awaitable<select_awaitable<Fair, As...>> {
 public:
  using result = std::variant<decltype(std::declval<As&>().get())...>;

  explicit select_awaitable(As && ... cases) : cases_(std::move(cases)...) {}
  /// Does the first one that does not have to wait; false if all have to.
  bool ready() {
    if constexpr (Fair && sizeof...(As) > 1) {
      const std::size_t first = fair_selections++ % sizeof...(As);
      return ready_from<0>(first) || ready_from<0>(0, first);
    } else {
      return ready_from<0>();
    }
  }
  void park(strand_block & self) { park_each(self, std::index_sequence_for<As...>{}); }
  result get() {
    // One was granted, or one of the channels was closed, which it still is.
    if (chosen_ == none) choose_granted(std::index_sequence_for<As...>{});
    if (chosen_ == none) static_cast<void>(ready());
    return result_of<0>();
  }

 private:
  static constexpr std::size_t none = sizeof...(As);

  // Asks those whose place is in [first, end).
  template <std::size_t I>
  bool ready_from(std::size_t first = 0, std::size_t end = none) {
    if (I >= first && I < end && std::get<I>(cases_).ready()) {
      chosen_ = I;
      return true;
    }
    if constexpr (I + 1 < sizeof...(As)) {
      return ready_from<I + 1>(first, end);
    } else {
      return false;
    }
  }
  template <std::size_t... I>
  void park_each(strand_block & self, std::index_sequence<I...>) {
    const auto park_one = [&](auto& one) { wait_in_several(self, one.node(), one.list()); };
    (park_one(std::get<sizeof...(As) - 1 - I>(cases_)), ...);
  }
  template <std::size_t... I>
  void choose_granted(std::index_sequence<I...>) noexcept {
    static_cast<void>(((std::get<I>(cases_).granted() && (chosen_ = I, true)) || ...));
  }
  template <std::size_t I>
  result result_of() {
    if constexpr (I + 1 < sizeof...(As)) {
      if (chosen_ != I) return result_of<I + 1>();
    }
    return result(std::in_place_index<I>, std::get<I>(cases_).get());
  }

  std::tuple<As...> cases_;
  std::size_t chosen_ = none;
};

}  // namespace detail

/// Waits on several channels until one of these pushes and pops can be done, and does that one
/// alone. Results in a variant: its index() says which, and it holds what the push or the pop would
/// have resulted in.
///
///     auto chosen = co_await select(requests.pop(), quit.pop(), log.push_from(line));
///     switch (chosen.index()) {
///       case 0: if (auto& request = std::get<0>(chosen)) serve(*request); …
///
/// If several can be done, the first by position is: so they are in the order of their urgency, and
/// a case that can always be done starves those behind it. select_fair() prefers none. A closed
/// channel can always be pushed to (false) and popped (nothing): leave it out. What push() holds is
/// lost if another one is chosen; push_from() leaves it where it is.
///
/// With a limit in time: `within(1s, select(…))`. Without any waiting: try_select().
///
/// Suspends while all have to wait; made ready by the strand that does one's counterpart or closes
/// its channel, inside that call, on this thread. Destroyed, timed out or cancelled while it waits:
/// nothing is sent or taken. Costs O(number of cases).
template <detail::selectable... Cases>
detail::select_awaitable<false, Cases...> select(Cases... cases) {
  static_assert(sizeof...(Cases) > 0, "name the pushes and pops to choose from");
  return detail::select_awaitable<false, Cases...>(std::move(cases)...);
}

/// Like select(), but if several can be done, each is the first in turn to be asked: of N that
/// always can, each is done once in N selections of a thread that has no others.
template <detail::selectable... Cases>
detail::select_awaitable<true, Cases...> select_fair(Cases... cases) {
  static_assert(sizeof...(Cases) > 0, "name the pushes and pops to choose from");
  return detail::select_awaitable<true, Cases...>(std::move(cases)...);
}

/// Like select(), but does not wait: results in nothing where select() would wait. For any flow on
/// the scheduler's thread, in a strand or not.
template <detail::selectable... Cases>
auto try_select(Cases... cases) {
  detail::select_awaitable<false, Cases...> all(std::move(cases)...);
  using result = typename detail::select_awaitable<false, Cases...>::result;
  return all.ready() ? std::optional<result>(all.get()) : std::nullopt;
}

}  // namespace heddle::coop
