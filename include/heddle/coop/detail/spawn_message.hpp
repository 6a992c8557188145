#pragma once

#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "heddle/coop/context/stack.hpp"
#include "heddle/coop/detail/frame_pool.hpp"
#include "heddle/coop/ext/inbox.hpp"
#include "heddle/coop/strand.hpp"

namespace heddle::coop::detail {

/// A body on its way to the scheduler that is to run it as a strand.
template <class Body, class Scheduler>
struct spawn_message final : message {
  Body body;
  std::string name;
  std::optional<stack_size> stack;

  template <class F>
  spawn_message(std::optional<stack_size> its_stack, F&& its_body, std::string_view its_name)
      : message(&deliver_it), body(std::forward<F>(its_body)), name(its_name), stack(its_stack) {}
  static void deliver_it(message& self, scheduler* to) noexcept {
    auto& mine = static_cast<spawn_message&>(self);
    if (auto* const here = static_cast<Scheduler*>(to)) {
      if constexpr (is_task<std::invoke_result_t<Body&>>) {
        here->spawn(std::move(mine.body), mine.name);
      } else {
        here->spawn(mine.stack.value_or(stack_size{}), std::move(mine.body), mine.name);
      }
    }
    mine.~spawn_message();
    frame_pool::release(&mine, sizeof(spawn_message));
  }
};

/// To be posted, and freed by its delivery.
template <class F, class Scheduler = scheduler>
message& make_spawn_message(std::optional<stack_size> stack, F&& body, std::string_view name) {
  using own = spawn_message<std::decay_t<F>, Scheduler>;
  static_assert(alignof(own) <= frame_pool::alignment, "the body asks for too much alignment");
  void* const memory = frame_pool::allocate(sizeof(own));
  return *new (memory) own(stack, std::forward<F>(body), name);
}

}  // namespace heddle::coop::detail
