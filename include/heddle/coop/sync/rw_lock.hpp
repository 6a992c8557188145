#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/detail/strands_left.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/sync/held_lock.hpp"

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
  using guard = held_lock<rw_lock>;
  using shared_guard = held_lock<rw_lock, true>;

  template <bool Shared>
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] lock_awaitable
      : public detail::awaitable<lock_awaitable<Shared>> {
   public:
    explicit lock_awaitable(rw_lock & its_lock) noexcept : lock_(its_lock) {
      node_.writes = !Shared;
    }
    bool ready() const noexcept {
      if (!lock_.waiters_.empty() || !lock_.admits(node_.writes)) return false;
      lock_.enter(node_.writes, scheduler_access::running_number());
      return true;
    }
    void park(detail::strand_block & self) noexcept {
      if (lock_.writer_ == scheduler_access::id(self)) [[unlikely]] {
        detail::relocked("reader-writer lock", lock_.name_);
      }
      detail::wait_in(self, node_, lock_.waiters_);
    }
    held_lock<rw_lock, Shared> get() const noexcept { return held_lock<rw_lock, Shared>(lock_); }

   private:
    rw_lock& lock_;
    rw_node node_;
  };

  /// `name` is for the report of a deadlock.
  explicit rw_lock(std::string name = {}) : name_(std::move(name)), waiters_(name_, *this) {}
  /// By a strand, while one reads or writes: ends the program with a message.
  ~rw_lock() {
    detail::end_strands_left();
    if (writing() || readers_ != 0) [[unlikely]] {
      detail::destroyed_locked("reader-writer lock", name_, writer_);
    }
  }
  rw_lock(const rw_lock&) = delete;
  rw_lock& operator=(const rw_lock&) = delete;

  /// To write: results in a guard. By the strand that writes already, either ends the program with
  /// that strand's name. Suspends while anybody reads, writes or waits; made ready by the
  /// last to leave before it, inside its unlock, on this thread. Timed out or cancelled while it
  /// waits: those that it held back enter. Destroyed while it waits: it is out of the queue.
  lock_awaitable<false> scoped_lock() noexcept { return lock_awaitable<false>(*this); }
  /// To read: suspends while a strand writes or waits; made ready and destroyed as scoped_lock().
  lock_awaitable<true> scoped_lock_shared() noexcept { return lock_awaitable<true>(*this); }

  // The guards of std:: would call them, and lock nothing, as a lock has to be waited for.
  void lock() = delete;         // instead: auto guard = co_await l.scoped_lock();
  void lock_shared() = delete;  // instead: auto guard = co_await l.scoped_lock_shared();

  /// By the writer; by another strand, or of a lock that nobody writes, it ends the program with
  /// the names of both. Does not switch.
  void unlock() {
    if (writer_ != scheduler_access::running_number()) [[unlikely]] {
      if (!detail::check_holder("reader-writer lock", name_, writer_)) return;
    }
    writer_ = detail::nobody;
    admit();
  }
  /// By a reader; ends the program with a message if nobody reads. Does not switch.
  void unlock_shared() {
    if (readers_ == 0) [[unlikely]] {
      if (!detail::check_holder("the readers' side of reader-writer lock", name_, detail::nobody)) {
        return;
      }
    }
    --readers_;
    admit();
  }

  [[nodiscard]] std::size_t readers() const noexcept { return readers_; }
  [[nodiscard]] bool writing() const noexcept { return writer_ != detail::nobody; }

 private:
  bool admits(bool writes) const noexcept { return !writing() && (!writes || readers_ == 0); }
  void enter(bool writes, std::uint64_t who) noexcept {
    if (writes) {
      writer_ = who;
    } else {
      ++readers_;
    }
  }
  void admit() {
    while (auto* const first = static_cast<rw_node*>(waiters_.first())) {
      if (!admits(first->writes)) return;
      enter(first->writes, scheduler_access::id(*first->who));
      scheduler_access::wake(*first);
    }
  }
  // A writer that gives up may have held back readers.
  static bool given_up(detail::wait_list& list, detail::wait_node&) {
    static_cast<queue&>(list).lock.admit();
    return false;
  }

  std::size_t readers_ = 0;
  std::uint64_t writer_ = detail::nobody;  // the number of the strand that writes
  std::string name_;
  queue waiters_;
};

}  // namespace heddle::coop
