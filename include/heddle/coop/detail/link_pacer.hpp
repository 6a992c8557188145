#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "heddle/coop/detail/link_envelope.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/ext/wait_list.hpp"

namespace heddle::coop::detail {

/// A strand's wait until its one-way message is one of at most `most` that were not received.
struct room_wait : wait_node {
  std::size_t most = 0;
  link_envelope* letter = nullptr;  // not sent, yet or for ever
};

/// Counts a side's one-way messages in flight, and holds the strands that wait until there are
/// fewer.
class link_pacer {
 public:
  explicit link_pacer(const std::string& link_name) noexcept
      : waiting_("receipts over link", link_name) {}

  /// Whether fewer than `most` are under way.
  [[nodiscard]] bool has_room(std::size_t most) const noexcept { return unreceived_ < most; }
  void count_sent() noexcept { ++unreceived_; }
  void count_received(std::size_t count) noexcept { unreceived_ -= count; }

  [[nodiscard]] bool nobody_waits() const noexcept { return waiting_.empty(); }
  [[nodiscard]] wait_list& waiting() noexcept { return waiting_; }
  /// Whether the side has to be told of receipts: strands wait, or it wants all of them.
  [[nodiscard]] bool needs_receipts() const noexcept { return !waiting_.empty() || wants_all_; }
  void want_all_receipts() noexcept { wants_all_ = true; }

  /// Sends the letters of strands for which there is room, and wakes these, by `send(letter)`,
  /// which says whether the other side took it. `reclaim()` counts what was received meanwhile.
  /// Returns false if this is called from inside itself, and does nothing then.
  template <class Reclaim, class Send>
  bool grant(const Reclaim& reclaim, const Send& send) {
    // A message within one scheduler is received at once, and its receipt calls this function
    // again.
    if (std::exchange(granting_, true)) return false;
    reclaim();
    while (!waiting_.empty()) {
      auto& first = static_cast<room_wait&>(*waiting_.first());
      if (!has_room(first.most)) reclaim();
      if (!has_room(first.most)) break;
      scheduler_access::wake(first);
      if (send(*first.letter)) first.letter = nullptr;
    }
    granting_ = false;
    return true;
  }
  /// Wakes all, who find that the link is closed.
  void close() noexcept {
    while (!waiting_.empty()) scheduler_access::wake_first(waiting_);
  }

 private:
  wait_list waiting_;
  std::size_t unreceived_ = 0;  // one-way messages sent from here, whose envelopes are not back
  bool wants_all_ = false;
  bool granting_ = false;
};

}  // namespace heddle::coop::detail
