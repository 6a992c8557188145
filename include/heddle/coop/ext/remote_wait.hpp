#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "heddle/coop/ext/awaitable.hpp"
#include "heddle/coop/ext/inbox.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/ext/spin.hpp"
#include "heddle/coop/ext/wait_list.hpp"
#include "heddle/coop/parallel/group.hpp"

namespace heddle::coop::parallel::detail {

class remote_wait;

enum class remote_state : std::uint8_t {
  idle,    // does not wait, or not any more
  queued,  // in a wait_queue
  posted,  // taken out by one who grants it, and not delivered yet
};

/// Strands of any groups that wait for one thing, first come, first served. To be touched by
/// whoever holds `lock` alone.
class wait_queue {
 public:
  explicit wait_queue(spin_lock& its_lock) noexcept : lock(its_lock) {}
  wait_queue(const wait_queue&) = delete;
  wait_queue& operator=(const wait_queue&) = delete;
  /// Like a wait_list's: strands that still wait are never woken. No group may run.
  ~wait_queue();

  [[nodiscard]] bool empty() const noexcept {
    return first_.load(std::memory_order_relaxed) == nullptr;
  }
  /// Without the lock, in the one order of all operations that are sequentially consistent, which
  /// append() is part of.
  [[nodiscard]] bool empty_in_order() const noexcept {
    return first_.load(std::memory_order_seq_cst) == nullptr;
  }
  void append(remote_wait& added) noexcept;
  void remove(remote_wait& removed) noexcept;
  /// Takes the first one out, to be granted after `lock` was released. Not if empty().
  [[nodiscard("it has to be granted")]] remote_wait& pop() noexcept;

  spin_lock& lock;

 private:
  void take_out(remote_wait& removed, remote_state becomes) noexcept;

  std::atomic<remote_wait*> first_{nullptr};
  remote_wait* last_ = nullptr;
};

/// Waits that were taken out of their queues under a lock, to be granted when it was released:
/// the strand that is granted one may continue and destroy the lock, and all that is around it.
class granted_waits {
 public:
  void add(remote_wait& wait) noexcept;
  /// All, in the order in which they were added.
  void grant() noexcept;

 private:
  remote_wait* first_ = nullptr;
  remote_wait* last_ = nullptr;
};

/// One strand's wait that a strand of another group may end. For its scheduler it is a wait in a
/// list of its own, which only its own thread touches; what others touch are the place in the queue
/// and the message that they post.
///
/// Not to be moved once it waits.
class remote_wait : public message, public coop::detail::wait_list {
 public:
  /// The function that is called on the strand's own thread when the wait was granted.
  using arrival = void (*)(remote_wait& self) noexcept;

  remote_wait(const char* kind, const std::string& name, arrival on_arrival = &finish) noexcept
      : message(&deliver_it), wait_list(kind, name, &on_given_up), arrived_(on_arrival) {}
  ~remote_wait() {
    if (state_.load(std::memory_order_acquire) != remote_state::idle) leave();
  }

  /// Parks the strand. Before append(), or within the same hold of the queue's lock.
  void park(coop::detail::strand_block& self) noexcept {
    owner_ = self.owner;
    coop::detail::wait_in(self, node_, *this);
  }
  /// Like park(), for a wait in several queues, any of which may end it.
  void park_with_others(coop::detail::strand_block& self) noexcept {
    owner_ = self.owner;
    coop::detail::wait_in_several(self, node_, *this);
  }
  /// Queues a parked strand.
  void wait_in(wait_queue& queue) noexcept;
  /// Ends at once a wait that no other thread has ended: the strand is ready.
  void end_at_once() { scheduler_access::wake(node_); }

  /// After it was taken out of its queue: makes the strand ready, in its group. From any thread.
  /// The caller must not access the wait any more.
  void grant() noexcept;

  /// Whether the strand is one of the group or scheduler that is running; or of one that runs alone
  /// and belongs to this thread.
  [[nodiscard]] bool is_here() const noexcept {
    return owner_ == coop::detail::this_scheduler() ||
           (group::of(*owner_) == nullptr && scheduler_access::on_own_thread(*owner_));
  }

 protected:
  /// The usual arrival: the strand is ready, unless it waits no more.
  static void finish(remote_wait& self) noexcept;
  /// For another one, of a strand that still waits: whether it has been told to stop since.
  [[nodiscard]] bool given_up() const noexcept {
    return node_.who->reason != coop::detail::wake_reason::granted;
  }
  /// Ends a wait that was: the strand learns why.
  static void end_given_up(remote_wait& self) noexcept;
  /// Queues it again.
  void wait_on() noexcept { wait_in(*queue_); }
  /// Takes it out of the queue; false if another thread has done so, and it will arrive.
  bool withdraw() noexcept;

 private:
  friend wait_queue;
  friend granted_waits;

  /// Forgets the wait, whatever has become of it.
  void leave() noexcept;
  static void deliver_it(message& self, coop::scheduler* to) noexcept;
  static bool on_given_up(wait_list& list, coop::detail::wait_node& node);

  arrival arrived_;
  coop::detail::several_node node_;
  coop::scheduler* owner_ = nullptr;
  wait_queue* queue_ = nullptr;
  remote_wait* next_ = nullptr;      // under the queue's lock; or in granted_waits
  remote_wait* previous_ = nullptr;  // likewise
  // Changed to and from `queued` under the queue's lock; from `posted` by the thread of its group.
  // So the strand needs no lock to see that it is idle, wherever it is.
  std::atomic<remote_state> state_{remote_state::idle};
};

using coop::detail::made_at_park;

}  // namespace heddle::coop::parallel::detail
