#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/strand.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/when.hpp"
#include "heddle/coop/yield.hpp"

namespace heddle::coop {

/// The result of when_any() of a vector: the position of the first task that ended, and its result.
template <class T>
struct first_of {
  std::size_t index;
  T value;
};

namespace detail {

template <class... Ts>
std::tuple<strand<Ts>...> spawn_each(scope& in, std::tuple<task<Ts>...>& tasks) {
  return std::apply(
      [&in](task<Ts>&... each) { return std::tuple<strand<Ts>...>{in.spawn(std::move(each))...}; },
      tasks);
}
template <class T>
std::vector<strand<T>> spawn_each(scope& in, std::vector<task<T>>& tasks) {
  std::vector<strand<T>> strands;
  strands.reserve(tasks.size());
  for (task<T>& each : tasks) strands.push_back(in.spawn(std::move(each)));
  return strands;
}

template <class... Ts>
auto any_of(const std::tuple<strand<Ts>...>& strands) {
  return std::apply([](const strand<Ts>&... each) { return when_any(each...); }, strands);
}
template <class T>
auto any_of(const std::vector<strand<T>>& strands) {
  return when_any(strands);
}

template <class... Ts>
using any_result = std::variant<taken_result<Ts>...>;

template <std::size_t I = 0, class... Ts>
any_result<Ts...> take_one(const std::tuple<strand<Ts>...>& from, std::size_t index) {
  if constexpr (I + 1 < sizeof...(Ts)) {
    if (I != index) return take_one<I + 1>(from, index);
  }
  return any_result<Ts...>(std::in_place_index<I>, take_result(std::get<I>(from)));
}
template <class T>
auto take_one(const std::vector<strand<T>>& from, std::size_t index) {
  return first_of<taken_result<T>>{index, take_result(from[index])};
}

template <class Tasks>
struct all_body {
  Tasks tasks;
  using strands = decltype(spawn_each(std::declval<scope&>(), std::declval<Tasks&>()));
  using result = decltype(take_each(std::declval<const strands&>()));

  task<result> operator()(scope& in) {
    const strands all = spawn_each(in, tasks);
    co_await in.join();
    co_return take_each(all);
  }
};

template <class Tasks>
struct any_body {
  Tasks tasks;
  using strands = decltype(spawn_each(std::declval<scope&>(), std::declval<Tasks&>()));
  using result = decltype(take_one(std::declval<const strands&>(), 0));

  task<result> operator()(scope& in) {
    const strands all = spawn_each(in, tasks);
    const std::size_t first = co_await any_of(all);
    in.cancel();
    co_await in.drain();
    co_return take_one(all, first);
  }
};

template <class Tasks>
auto all_in_scope(Tasks tasks) {
  using result = typename all_body<Tasks>::result;
  return task_in_scope<result>(nullptr, scope_body<result>(all_body<Tasks>{std::move(tasks)}));
}
template <class Tasks>
auto any_in_scope(Tasks tasks) {
  using result = typename any_body<Tasks>::result;
  return task_in_scope<result>(nullptr, scope_body<result>(any_body<Tasks>{std::move(tasks)}),
                               on_failure::keep_on);
}

}  // namespace detail

/// Runs these tasks at the same time, a strand each, and results in a tuple of their results
/// (std::monostate for void, std::reference_wrapper for a reference). If one fails, the others are
/// cancelled and waited for, and its error is thrown, the first in time.
///
///     auto [header, body] = co_await when_all(read_header(), read_body());
///     auto [page, picture] = await(when_all(fetch(a), on_fiber([] { return draw(); })));
///
/// A task itself: suspends until all have ended, and is made ready by the end of the last, from
/// inside the scheduler, on this thread. Cancelled while it waits: it passes that on, and waits for
/// their ends. No strand outlives it. For a limit in time, see when_any().
template <class... Ts>
[[nodiscard]] auto when_all(task<Ts>... tasks) {
  static_assert(sizeof...(Ts) > 0, "name the tasks to run");
  return detail::all_in_scope(std::tuple<task<Ts>...>(std::move(tasks)...));
}
/// The same for any number of tasks of one type, none included; results in a vector of their
/// results, or in nothing if they have none.
template <class T>
[[nodiscard]] auto when_all(std::vector<task<T>> tasks) {
  return detail::all_in_scope(std::move(tasks));
}

/// Runs these tasks at the same time until the first has ended, cancels the others, waits for their
/// ends, and results in a variant whose index() says who was first, and that holds its result (as
/// in when_all()). If the first one ends by an error, that is thrown; the others' errors are
/// dropped. If several ended before this strand's turn came, the first of them by position counts.
///
///     auto first = co_await when_any(read(socket), timeout(30s));
///     if (first.index() == 1) …
///
/// A task itself: suspends until one has ended and then until the others have; made ready by their
/// ends, from inside the scheduler, on this thread. Cancelled while it waits: as when_all().
template <class... Ts>
[[nodiscard]] auto when_any(task<Ts>... tasks) {
  static_assert(sizeof...(Ts) > 0, "name the tasks to run");
  return detail::any_in_scope(std::tuple<task<Ts>...>(std::move(tasks)...));
}
/// The same for any number of tasks of one type; results in first_of<T>. Throws
/// std::invalid_argument if there are none.
template <class T>
[[nodiscard]] auto when_any(std::vector<task<T>> tasks) {
  return detail::any_in_scope(std::move(tasks));
}

namespace detail {

inline task<> time_passes(duration length) { co_await sleep_for(length); }

template <class T>
struct within_body {
  duration limit;
  task<T> limited;
  using result = typename within_result<T>::type;

  task<result> operator()(scope& in) {
    const strand<T> work = in.spawn(std::move(limited));
    const strand<> timer = in.spawn(time_passes(limit));
    const bool late = co_await when_any(work, timer) == 1;
    in.cancel();
    co_await in.drain();
    // An error of one that is late is no timeout.
    if (late && !work.block().error()) co_return result{};
    if constexpr (std::is_void_v<T>) {
      take_result(work);
      co_return true;
    } else {
      co_return take_result(work);
    }
  }
};

}  // namespace detail

/// Runs a task, at most for `limit`: then it is cancelled, and waited for. Results in an optional
/// of its result (std::reference_wrapper for a reference), empty after a timeout; in a bool if it
/// has none. What it throws, also while it is cancelled, is thrown. Costs two strands; a limit of a
/// single wait inside it, `within(limit, wait)`, costs none.
///
///     std::optional<page> loaded = co_await within(2s, load(address));
///
/// A task itself, that suspends, is made ready, cancelled and destroyed as when_any().
template <class T>
[[nodiscard]] auto within(detail::length limit, task<T> limited) {
  using body = detail::within_body<T>;
  using result = typename body::result;
  return detail::task_in_scope<result>(
      nullptr, detail::scope_body<result>(body{limit, std::move(limited)}), on_failure::keep_on);
}

}  // namespace heddle::coop
