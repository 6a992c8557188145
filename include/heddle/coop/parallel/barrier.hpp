#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heddle/coop/await.hpp"
#include "heddle/coop/ext/inbox.hpp"
#include "heddle/coop/ext/spin.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/scheduler.hpp"

namespace heddle::coop::parallel {

/// Where a fixed number of strands of each group wait for each other, again and again.
/// Hierarchical, as the paper's PCM version of Jacobi iteration: inside a group arrivals are
/// counted in plain variables; the last one of each group counts the group, and the last group
/// sends each of the others one message.
class barrier {
 public:
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] arrive_awaitable
      : public coop::detail::awaitable<arrive_awaitable> {
   public:
    explicit arrive_awaitable(barrier & at) noexcept : at_(at) {}
    bool ready() {
      last_ = at_.arrive();
      return last_;
    }
    void park(coop::detail::strand_block & self) noexcept { at_.park(self, node_); }
    bool get() const noexcept { return last_; }

   private:
    barrier& at_;
    coop::detail::wait_node node_;
    bool last_ = false;
  };

  /// For that many strands of each group.
  barrier(groups& among, std::size_t strands_in_each, std::string name = {});
  /// For that many of the group with that index; groups with none take no part. Throws
  /// std::invalid_argument if there are more numbers than groups, or no strand at all.
  barrier(groups& among, const std::vector<std::size_t>& strands, std::string name = {});
  ~barrier();
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  /// Waits until all have arrived; true for the last one of all, which goes on without waiting.
  /// Suspends all others; made ready by the last one of all if that is of its group, inside its
  /// wait, otherwise by the message from there, in its own group. Timed out or cancelled while it
  /// waits: it takes its arrival back, unless all have arrived. Ends the program with a message if
  /// the strand's group takes no part.
  arrive_awaitable arrive_and_wait() noexcept { return arrive_awaitable(*this); }

 private:
  struct cell;

  cell& own_cell();
  bool arrive();
  void park(coop::detail::strand_block& self, coop::detail::wait_node& node) noexcept;
  static bool given_up(coop::detail::wait_list& list, coop::detail::wait_node& node);
  static void deliver(message& self, coop::scheduler* to) noexcept;

  const std::string name_;
  std::uint32_t taking_part_ = 0;  // groups
  std::vector<std::unique_ptr<cell>> cells_;
  // The number of the phase, and in the lower half how many groups are missing.
  alignas(detail::line_bytes) std::atomic<std::uint64_t> state_{0};
};

}  // namespace heddle::coop::parallel
