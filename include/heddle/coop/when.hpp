#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "heddle/coop/await.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/strand.hpp"

namespace heddle::coop {
namespace detail {

// The nodes of a strand that waits for the end of several others.
template <std::size_t N>
class end_nodes {
 public:
  // `pending`: how many must end, or null if one is enough.
  void park(strand_block& self, const std::array<strand_block*, N>& strands, std::size_t* pending) {
    wait_node* chain = nullptr;
    for (std::size_t i = N; i-- > 0;) {
      if (strands[i]->status == strand_status::finished) continue;
      wait_in(self, nodes_[i], strands[i]->joiners);
      nodes_[i].pending = pending;
      if (pending != nullptr) ++*pending;
      nodes_[i].sibling = chain;
      chain = &nodes_[i];
    }
    self.waits = chain;
  }

 private:
  std::array<wait_node, N> nodes_;
};

template <class T>
auto take_result(strand_block& block) {
  if constexpr (std::is_void_v<T>) {
    static_cast<result_block<T>&>(block).take();
    return std::monostate{};
  } else if constexpr (std::is_reference_v<T>) {
    return std::ref(static_cast<result_block<T>&>(block).take());
  } else {
    return static_cast<result_block<T>&>(block).take();
  }
}

template <class... Ts>
class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] when_all_awaitable
    : public awaitable<when_all_awaitable<Ts...>> {
 public:
  explicit when_all_awaitable(const strand<Ts>&... strands) noexcept : strands_(strands...) {}
  bool ready() const noexcept {
    return std::apply([](const auto&... each) { return (each.done() && ...); }, strands_);
  }
  void park(strand_block & self) { nodes_.park(self, blocks(), &pending_); }
  auto get() { return get_each(std::index_sequence_for<Ts...>{}); }

 private:
  std::array<strand_block*, sizeof...(Ts)> blocks() const noexcept {
    return std::apply([](const auto&... each) { return std::array{&each.block()...}; }, strands_);
  }
  template <std::size_t... I>
  auto get_each(std::index_sequence<I...>) {
    // Braces: in this order, so that the first error by position is thrown.
    return std::tuple{take_result<Ts>(std::get<I>(strands_).block())...};
  }

  std::tuple<strand<Ts>...> strands_;
  end_nodes<sizeof...(Ts)> nodes_;
  std::size_t pending_ = 0;
};

template <std::size_t N>
class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] when_any_awaitable
    : public awaitable<when_any_awaitable<N>> {
 public:
  explicit when_any_awaitable(std::array<strand_ref, N> strands) noexcept
      : strands_(std::move(strands)) {}
  bool ready() const noexcept { return first_ended() < N; }
  void park(strand_block & self) {
    std::array<strand_block*, N> blocks;
    for (std::size_t i = 0; i < N; ++i) blocks[i] = &strands_[i].block();
    nodes_.park(self, blocks, nullptr);
  }
  std::size_t get() const noexcept { return first_ended(); }

 private:
  std::size_t first_ended() const noexcept {
    std::size_t i = 0;
    while (i < N && !strands_[i].done()) ++i;
    return i;
  }

  std::array<strand_ref, N> strands_;
  end_nodes<N> nodes_;
};

}  // namespace detail

/// Waits until all of these have ended; results in a tuple of their results (std::monostate for
/// void, std::reference_wrapper for a reference), or throws the error of the first of them, by
/// position, that failed.
/// Suspends unless all have ended; made ready by the end of the last, from inside the scheduler, on
/// this thread. Cancelled, timed out or destroyed while it waits: the strands go on.
template <class... Ts>
detail::when_all_awaitable<Ts...> when_all(const strand<Ts>&... strands) noexcept {
  static_assert(sizeof...(Ts) > 0);
  return detail::when_all_awaitable<Ts...>(strands...);
}

/// Waits until one of these has ended, with a result or an error; results in its position, the
/// lowest if there are several. Its join() does not wait then; the others go on: cancel() them if
/// they are of no use any more, or spawn them in a scope.
/// Suspends unless one has ended; made ready by the first end, and otherwise as when_all().
template <class... Ts>
detail::when_any_awaitable<sizeof...(Ts)> when_any(const strand<Ts>&... strands) noexcept {
  static_assert(sizeof...(Ts) > 0);
  return detail::when_any_awaitable<sizeof...(Ts)>({static_cast<const strand_ref&>(strands)...});
}

}  // namespace heddle::coop
