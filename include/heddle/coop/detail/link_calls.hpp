#pragma once

#include <string>
#include <utility>

#include "heddle/coop/detail/link_envelope.hpp"
#include "heddle/coop/ext/awaitable.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/ext/wait_list.hpp"

namespace heddle::coop::detail {

/// A strand's wait for a reply.
struct link_wait : wait_node {
  link_envelope* envelope = nullptr;  // null: the link was closed, or the wait given up
};

/// The strands of a side that wait for replies to their calls.
class link_calls {
 public:
  explicit link_calls(const std::string& link_name) noexcept
      : waiting_("a reply over link", link_name, &given_up) {}

  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  /// The strand waits, unless the call is over meanwhile.
  void park(strand_block& self, link_wait& wait, link_envelope& call) noexcept;
  /// The call is over, and its envelope at home. Returns false if no strand waits for it.
  [[nodiscard]] static bool end(link_envelope& call) noexcept {
    if (call.wait == nullptr) return false;
    link_wait& wait = *std::exchange(call.wait, nullptr);
    count_as_granted(*wait.who);
    scheduler_access::wake(wait);
    return true;
  }
  /// The strand of a call that was sent is gone. Returns whether the envelope is at home; else the
  /// other side has it, and gives it back.
  [[nodiscard]] static bool give_up(link_envelope& call) noexcept;
  /// Wakes all: the link is closed.
  void close() noexcept;

 private:
  static bool given_up(wait_list& list, wait_node& node);

  wait_list waiting_;
};

}  // namespace heddle::coop::detail
