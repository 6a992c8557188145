#include <utility>

#include "heddle/coop/detail/link_calls.hpp"
namespace heddle::coop::detail {

void link_calls::park(strand_block& self, link_wait& wait, link_envelope& call) noexcept {
  wait.envelope = &call;
  call.wait = &wait;
  wait_in(self, wait, waiting_);
  call_state seen = call_state::sent;
  if (!call.state.compare_exchange_strong(seen, call_state::parked, std::memory_order_acq_rel)) {
    call.wait = nullptr;
    scheduler_access::wake(wait);
  }
}

bool link_calls::give_up(link_envelope& call) noexcept {
  call_state seen = call.state.load(std::memory_order_acquire);
  while (seen == call_state::sent || seen == call_state::parked) {
    if (call.state.compare_exchange_weak(seen, call_state::abandoned, std::memory_order_acq_rel)) {
      return false;
    }
  }
  // Where it is parked, the reply is under way.
  return std::exchange(call.wait, nullptr) == nullptr;
}

bool link_calls::given_up(wait_list& list, wait_node& node) {
  auto& wait = static_cast<link_wait&>(node);
  call_state seen = call_state::parked;
  if (wait.envelope->state.compare_exchange_strong(seen, call_state::abandoned,
                                                   std::memory_order_acq_rel)) {
    wait.envelope = nullptr;
    return false;
  }
  // The reply is under way: it counts.
  wait_in(*node.who, node, list);
  return true;
}

// A call that is over is in no queue now: the other side, which finds ours closed, takes its
// envelope back.
void link_calls::close() noexcept {
  while (!waiting_.empty()) {
    auto& wait = static_cast<link_wait&>(*waiting_.first());
    call_state seen = call_state::parked;
    wait.envelope->state.compare_exchange_strong(seen, call_state::abandoned,
                                                 std::memory_order_acq_rel);
    wait.envelope = nullptr;
    scheduler_access::wake(wait);
  }
}

}  // namespace heddle::coop::detail
