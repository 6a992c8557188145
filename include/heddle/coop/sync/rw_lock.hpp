#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop {

/// Many readers or one writer. Fair: in the order of arrival, except that readers next to each
/// other in the queue enter together; a reader does not pass a waiting writer.
class rw_lock {
  struct rw_node : detail::wait_node {
    bool writes = false;
  };
  struct queue : detail::wait_list {
    queue(const std::string& name, rw_lock& its_lock) noexcept
        : wait_list("reader-writer lock", name, &rw_lock::given_up), lock(its_lock) {}
    rw_lock& lock;
  };

 public:
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] lock_awaitable
      : public detail::awaitable<lock_awaitable> {
   public:
    lock_awaitable(rw_lock & its_lock, bool writes) noexcept : lock_(its_lock) {
      node_.writes = writes;
    }
    bool ready() const noexcept {
      if (!lock_.waiters_.empty() || !lock_.admits(node_.writes)) return false;
      lock_.enter(node_.writes);
      return true;
    }
    void park(detail::strand_block & self) noexcept {
      detail::wait_in(self, node_, lock_.waiters_);
    }
    void get() const noexcept {}

   private:
    rw_lock& lock_;
    rw_node node_;
  };

  /// `name` is for the report of a deadlock.
  explicit rw_lock(std::string name = {}) : name_(std::move(name)), waiters_(name_, *this) {}
  rw_lock(const rw_lock&) = delete;
  rw_lock& operator=(const rw_lock&) = delete;

  /// To write: suspends while anybody reads, writes or waits; made ready by the last to leave
  /// before it, inside its unlock, on this thread. Timed out or cancelled while it waits: those
  /// that it held back enter. Destroyed while it waits: it is out of the queue.
  lock_awaitable lock() noexcept { return lock_awaitable(*this, true); }
  /// To read: suspends while a strand writes or waits; made ready and destroyed as lock().
  lock_awaitable lock_shared() noexcept { return lock_awaitable(*this, false); }

  /// By the writer. Does not switch.
  void unlock() {
    writing_ = false;
    admit();
  }
  /// By a reader. Does not switch.
  void unlock_shared() {
    --readers_;
    admit();
  }

  [[nodiscard]] std::size_t readers() const noexcept { return readers_; }
  [[nodiscard]] bool writing() const noexcept { return writing_; }

 private:
  bool admits(bool writes) const noexcept { return !writing_ && (!writes || readers_ == 0); }
  void enter(bool writes) noexcept {
    if (writes) {
      writing_ = true;
    } else {
      ++readers_;
    }
  }
  void admit() {
    while (auto* const first = static_cast<rw_node*>(waiters_.first())) {
      if (!admits(first->writes)) return;
      enter(first->writes);
      scheduler_access::wake(*first);
    }
  }
  // A writer that gives up may have held back readers.
  static bool given_up(detail::wait_list& list, detail::wait_node&) {
    static_cast<queue&>(list).lock.admit();
    return false;
  }

  std::size_t readers_ = 0;
  bool writing_ = false;
  std::string name_;
  queue waiters_;
};

}  // namespace heddle::coop
