#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "heddle/coop/detail/link_envelope.hpp"
#include "heddle/coop/ext/inbox.hpp"
#include "heddle/coop/ext/spin.hpp"

namespace heddle::coop {

class scheduler;
namespace parallel {
class group;
}

namespace detail {

/// The state that both ends of a link share.
struct link_core {
  std::string name;
  std::atomic<std::uint32_t> references{2};  // one a side, until that is released

  explicit link_core(std::string its_name) : name(std::move(its_name)) {}
  link_core(const link_core&) = delete;
  link_core& operator=(const link_core&) = delete;
  virtual ~link_core() = default;
  void drop() noexcept {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

/// Envelopes that the other side has sent and this side has not read yet. Any number of writers,
/// one reader.
class envelope_queue {
 public:
  enum class pushed : std::uint8_t { first, later, refused };

  pushed push(link_envelope& added) noexcept;
  /// Linked from the oldest to the newest.
  [[nodiscard]] link_envelope* take_all() noexcept;
  /// From now on it refuses. Returns what was in it.
  [[nodiscard]] link_envelope* close() noexcept;
  [[nodiscard]] bool empty() const noexcept {
    return newest_.load(std::memory_order_seq_cst) == nullptr;
  }

 private:
  static link_envelope* in_order(link_envelope* newest) noexcept;
  static link_envelope* closed_mark() noexcept { return reinterpret_cast<link_envelope*>(1); }

  std::atomic<link_envelope*> newest_{nullptr};
};

/// The part of a side that the other side touches, from its own thread: letters that it sends,
/// envelopes that it gives back, the bell that tells the side's scheduler of them. The queue
/// carries along what was written before.
///
/// On two lines of its own, which the other side writes: one for what it sends, one for what it
/// gives back.
///
/// Invariants: the bell is in at most one inbox, and `rung` is set while it is. Where the queue is
/// not empty and the side is bound, the bell is rung, or its owner is about to look.
class alignas(parallel::detail::line_bytes) link_mailbox : private message {
 public:
  link_mailbox(link_side& side, link_core& core) noexcept
      : message(&deliver_bell), side_(side), core_(core) {}

  // For the other side.

  /// Returns false if the side takes nothing more.
  bool push(link_envelope& letter) noexcept;
  /// One of the side's own envelopes is not needed any more.
  void give_back(link_envelope& unused) noexcept;

  // For the side, on its scheduler's thread.

  /// The scheduler to which the side is bound; null if it is to none.
  [[nodiscard]] coop::scheduler* owner() const noexcept {
    return owner_.load(std::memory_order_relaxed);
  }
  /// The caller must check empty() afterwards; see ring().
  void bind(coop::scheduler* to) noexcept { owner_.store(to, std::memory_order_seq_cst); }

  [[nodiscard]] bool empty() const noexcept { return incoming_.empty(); }
  /// The letters, linked from the oldest to the newest.
  [[nodiscard]] link_envelope* take_letters() noexcept { return incoming_.take_all(); }
  /// The same; nothing more is taken from now on.
  [[nodiscard]] link_envelope* close() noexcept { return incoming_.close(); }
  /// Takes the envelopes that were given back, as a linked list.
  [[nodiscard]] link_envelope* take_given_back() noexcept {
    return spare_.exchange(nullptr, std::memory_order_seq_cst);
  }
  /// Whether the side is told of each envelope that is given back.
  [[nodiscard]] bool wants_receipts() const noexcept {
    return wants_receipts_.load(std::memory_order_relaxed);
  }
  /// The caller then takes the envelopes that were given back earlier.
  void want_receipts() noexcept { wants_receipts_.store(true, std::memory_order_seq_cst); }
  void want_no_receipts() noexcept { wants_receipts_.store(false, std::memory_order_relaxed); }

  /// The side is not used any more: its reference to the core is dropped, now or by the bell.
  void release() noexcept;

 private:
  // The bits of bell_.
  static constexpr std::uint32_t rung = 1;
  static constexpr std::uint32_t released = 2;  // the last one to hold the bell drops the core

  void ring() noexcept;
  static void deliver_bell(message& self, coop::scheduler* to) noexcept;
  void find_owner(parallel::group& here) noexcept;

  link_side& side_;
  link_core& core_;
  envelope_queue incoming_;
  std::atomic<std::uint32_t> bell_{0};
  std::atomic<coop::scheduler*> owner_{nullptr};
  alignas(parallel::detail::line_bytes) std::atomic<link_envelope*> spare_{nullptr};
  std::atomic<bool> wants_receipts_{false};  // whoever puts an envelope into spare_ is to ring
};

// Functions that a side calls on an envelope of the other side.

/// Ends a call with the outcome in its envelope.
void settle(link_envelope& call, call_outcome outcome) noexcept;
/// It is not needed any more.
void give_back(link_envelope& unused) noexcept;
/// Sends a one-way message that no handler will take back, as `returned` or `refused`.
void send_back(link_envelope& letter, envelope_kind why) noexcept;

}  // namespace detail
}  // namespace heddle::coop
