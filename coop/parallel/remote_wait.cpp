#include "heddle/coop/ext/remote_wait.hpp"

#include <sched.h>

#include <mutex>

namespace heddle::coop::parallel::detail {

using coop::detail::wait_node;

wait_queue::~wait_queue() {
  for (remote_wait* each = first_.load(std::memory_order_relaxed); each != nullptr;) {
    remote_wait& waiting = *each;
    each = each->next_;
    waiting.queue_ = nullptr;
    waiting.state_.store(remote_state::idle, std::memory_order_relaxed);
    waiting.node_.list = nullptr;  // whose name is gone
  }
}

void wait_queue::append(remote_wait& added) noexcept {
  added.queue_ = this;
  added.state_.store(remote_state::queued, std::memory_order_relaxed);
  added.next_ = nullptr;
  added.previous_ = last_;
  if (last_ != nullptr) {
    last_->next_ = &added;
  } else {
    first_.store(&added, std::memory_order_seq_cst);
  }
  last_ = &added;
}

void wait_queue::take_out(remote_wait& removed, remote_state becomes) noexcept {
  if (removed.previous_ != nullptr) {
    removed.previous_->next_ = removed.next_;
  } else {
    first_.store(removed.next_, std::memory_order_relaxed);
  }
  (removed.next_ != nullptr ? removed.next_->previous_ : last_) = removed.previous_;
  removed.state_.store(becomes, std::memory_order_relaxed);
}

void wait_queue::remove(remote_wait& removed) noexcept { take_out(removed, remote_state::idle); }

remote_wait& wait_queue::pop() noexcept {
  remote_wait& taken = *first_.load(std::memory_order_relaxed);
  take_out(taken, remote_state::posted);
  return taken;
}

void granted_waits::add(remote_wait& wait) noexcept {
  wait.next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = &wait;
  last_ = &wait;
}

void granted_waits::grant() noexcept {
  while (first_ != nullptr) {
    remote_wait& granted = *first_;
    first_ = granted.next_;  // before it is gone
    granted.grant();
  }
}

void remote_wait::grant() noexcept {
  if (is_here()) {
    arrived_(*this);
  } else if (group* const its = group::of(*owner_)) {
    its->post(*this);
  } else {
    scheduler_access::post(*owner_, *this);
  }
}

void remote_wait::deliver_it(message& posted, coop::scheduler* to) noexcept {
  auto& self = static_cast<remote_wait&>(posted);
  if (to != nullptr) self.arrived_(self);
}

void remote_wait::finish(remote_wait& self) noexcept {
  const bool over = self.empty();  // the strand is being destroyed, or another wait of it has ended
  // Release: the last that is done to it then, as its strand may be in another group by now.
  self.state_.store(remote_state::idle, std::memory_order_release);
  if (over) return;
  coop::detail::count_as_granted(*self.node_.who);
  scheduler_access::wake(self.node_);
}

void remote_wait::end_given_up(remote_wait& self) noexcept {
  self.state_.store(remote_state::idle, std::memory_order_relaxed);
  scheduler_access::wake(self.node_);
}

void remote_wait::wait_in(wait_queue& queue) noexcept {
  const std::lock_guard held(queue.lock);
  queue.append(*this);
}

bool remote_wait::withdraw() noexcept {
  const std::lock_guard held(queue_->lock);
  if (state_.load(std::memory_order_relaxed) != remote_state::queued) return false;
  queue_->remove(*this);
  return true;
}

// Cancelled, or out of time: the node is in no list now.
bool remote_wait::on_given_up(wait_list& list, wait_node& node) {
  auto& self = static_cast<remote_wait&>(list);
  if (self.queue_ == nullptr || self.withdraw()) return false;
  if (self.state_.load(std::memory_order_relaxed) == remote_state::idle) return false;
  // Granted meanwhile, and the message is under way: it lives in the wait, which so has to last.
  coop::detail::wait_in(*node.who, node, list);
  return true;
}

void remote_wait::leave() noexcept {
  if (queue_ == nullptr || withdraw()) return;
  // The thread that took the wait out of its queue is about to post it to the group in which the
  // strand waited. Only that group's thread may receive its messages; if this is another thread,
  // the strand was moved.
  group* const own = group::of(*owner_);
  const bool moved = group::current() != nullptr && group::current() != own;
  while (state_.load(std::memory_order_acquire) == remote_state::posted) {
    if (moved || !scheduler_access::deliver_posts(*owner_)) sched_yield();
  }
}

}  // namespace heddle::coop::parallel::detail
