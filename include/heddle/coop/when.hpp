#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/coop/await.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/strand.hpp"

namespace heddle::coop {
namespace detail {

// A container with an element of type `To` for each strand in `Strands`, an array or a vector.
template <class To, class Strands>
struct for_each_of;
template <class To, class S, std::size_t N>
struct for_each_of<To, std::array<S, N>> {
  using type = std::array<To, N>;
  static type make(const std::array<S, N>&) { return {}; }
};
template <class To, class S>
struct for_each_of<To, std::vector<S>> {
  using type = std::vector<To>;
  static type make(const std::vector<S>& strands) { return type(strands.size()); }
};

// The nodes of a strand that waits for the end of several others.
template <class Strands>
class end_nodes {
 public:
  explicit end_nodes(const Strands& strands) : nodes_(nodes::make(strands)) {}
  // `pending`: how many must end, or null if one is enough.
  void park(strand_block& self, const Strands& strands, std::size_t* pending) {
    for (std::size_t i = strands.size(); i-- > 0;) {
      if (strands[i].done()) continue;
      wait_in_several(self, nodes_[i], strands[i].block().joiners(), pending);
      if (pending != nullptr) ++*pending;
    }
  }

 private:
  using nodes = for_each_of<several_node, Strands>;
  typename nodes::type nodes_;
};

template <class T>
auto take_result(const strand<T>& from) {
  auto& block = static_cast<result_block<T>&>(from.block());
  if constexpr (std::is_void_v<T>) {
    block.take();
    return std::monostate{};
  } else if constexpr (std::is_reference_v<T>) {
    return std::ref(block.take());
  } else {
    return block.take();
  }
}
template <class T>
using taken_result = decltype(take_result(std::declval<const strand<T>&>()));

template <class... Ts>
auto take_each(const std::tuple<strand<Ts>...>& from) {
  return std::apply(
      [](const strand<Ts>&... each) {
        // Braces: in this order, so that the first error by position is thrown.
        return std::tuple<taken_result<Ts>...>{take_result(each)...};
      },
      from);
}
template <class T>
auto take_each(const std::vector<strand<T>>& from) {
  if constexpr (std::is_void_v<T>) {
    for (const strand<T>& each : from) take_result(each);
  } else {
    std::vector<taken_result<T>> results;
    results.reserve(from.size());
    for (const strand<T>& each : from) results.push_back(take_result(each));
    return results;
  }
}

template <class Refs, class Handles>
class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] when_all_awaitable
    : public awaitable<when_all_awaitable<Refs, Handles>> {
 public:
  when_all_awaitable(Refs refs, Handles handles)
      : refs_(std::move(refs)), handles_(std::move(handles)), nodes_(refs_) {}
  bool ready() const noexcept {
    for (const strand_ref& each : refs_) {
      if (!each.done()) return false;
    }
    return true;
  }
  void park(strand_block & self) { nodes_.park(self, refs_, &pending_); }
  auto get() const {
    // One error is thrown, of which the others' may be the consequences.
    for (const strand_ref& each : refs_) mark_seen(each.block());
    return take_each(handles_);
  }

 private:
  Refs refs_;
  Handles handles_;
  end_nodes<Refs> nodes_;
  std::size_t pending_ = 0;
};

template <class Refs>
class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] when_any_awaitable
    : public awaitable<when_any_awaitable<Refs>> {
 public:
  explicit when_any_awaitable(Refs refs) : refs_(std::move(refs)), nodes_(refs_) {}
  bool ready() const noexcept { return get() < refs_.size(); }
  void park(strand_block & self) { nodes_.park(self, refs_, nullptr); }
  std::size_t get() const noexcept {
    std::size_t i = 0;
    while (i < refs_.size() && !refs_[i].done()) ++i;
    return i;
  }

 private:
  Refs refs_;
  end_nodes<Refs> nodes_;
};

template <class T>
inline constexpr bool is_strand = false;
template <class T>
inline constexpr bool is_strand<strand<T>> = true;

template <class R>
concept range_of_strands =
    std::ranges::input_range<R> && is_strand<std::remove_cv_t<std::ranges::range_value_t<R>>>;

[[noreturn]] void throw_none_to_wait_for();

}  // namespace detail

/// Waits until all of these have ended; results in a tuple of their results (std::monostate for
/// void, std::reference_wrapper for a reference), or throws the error of the first of them, by
/// position, that failed.
/// Suspends unless all have ended; made ready by the end of the last, from inside the scheduler, on
/// this thread. Cancelled, timed out or destroyed while it waits: the strands go on.
template <class... Ts>
auto when_all(const strand<Ts>&... strands) {
  static_assert(sizeof...(Ts) > 0, "name the strands to wait for");
  using refs = std::array<strand_ref, sizeof...(Ts)>;
  return detail::when_all_awaitable<refs, std::tuple<strand<Ts>...>>(
      refs{static_cast<const strand_ref&>(strands)...}, {strands...});
}

/// The same for a range of handles of one type, which may be empty; results in a vector of their
/// results, or in nothing if they have none.
template <detail::range_of_strands Range>
auto when_all(const Range& strands) {
  using refs = std::vector<strand_ref>;
  using handles = std::vector<std::ranges::range_value_t<Range>>;
  return detail::when_all_awaitable<refs, handles>(
      refs(std::ranges::begin(strands), std::ranges::end(strands)),
      handles(std::ranges::begin(strands), std::ranges::end(strands)));
}

/// Waits until one of these has ended, with a result or an error; results in its position, the
/// lowest if there are several. Its join() does not wait then; the others go on: cancel() them if
/// they are of no use any more, or give the tasks themselves to when_any(), of when_tasks.hpp.
/// Suspends unless one has ended; made ready by the first end, and otherwise as when_all().
template <class... Ts>
auto when_any(const strand<Ts>&... strands) {
  static_assert(sizeof...(Ts) > 0, "name the strands to wait for");
  using refs = std::array<strand_ref, sizeof...(Ts)>;
  return detail::when_any_awaitable<refs>(refs{static_cast<const strand_ref&>(strands)...});
}

/// The same for a range of handles of one type. Throws std::invalid_argument if it is empty.
template <detail::range_of_strands Range>
auto when_any(const Range& strands) {
  using refs = std::vector<strand_ref>;
  if (std::ranges::empty(strands)) detail::throw_none_to_wait_for();
  return detail::when_any_awaitable<refs>(
      refs(std::ranges::begin(strands), std::ranges::end(strands)));
}

}  // namespace heddle::coop
