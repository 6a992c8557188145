#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "heddle/coop/ext/awaitable.hpp"
#include "heddle/coop/ext/inbox.hpp"
#include "heddle/coop/ext/spin.hpp"
#include "heddle/coop/ext/wait_list.hpp"
#include "heddle/coop/parallel/group.hpp"

namespace heddle::coop::detail {

class link_side;
struct link_wait;
struct link_job;

enum class envelope_kind : std::uint8_t {
  call,
  one_way,
  returned,  // a one-way message that comes back, as nobody will take it
  closing,   // the other end is closed; the last that comes from there
};

/// Of a call. Who changes it to `over` or `abandoned` last gives the envelope back.
enum class call_state : std::uint8_t {
  sent,       // its strand looks out, or is about to park
  parked,     // its strand waits: the reply has to be sent home
  over,       // the outcome is in the envelope
  abandoned,  // nobody waits for it any more
};

enum class call_outcome : std::uint8_t { replied, failed, closed };

/// What an exception that left a handler was.
struct handler_error {
  std::string type;
  std::string what;
};

/// One message and, if it is a call, its reply. Made by the side that sends, which takes it back
/// and uses it again: messages cost no allocation, as soon as there have been as many at once.
struct link_envelope {
  link_envelope* next = nullptr;       // in a queue, or among those that are free
  link_envelope* made_next = nullptr;  // among all that its home has made
  link_side* const home;
  link_wait* wait = nullptr;  // of a parked call; for its home alone
  envelope_kind kind;
  call_outcome outcome = call_outcome::closed;
  std::atomic<call_state> state{call_state::sent};
  std::uint64_t number = 0;              // for a side that is a connection
  std::unique_ptr<handler_error> error;  // of one that has failed

  link_envelope(link_side& its_home, envelope_kind its_kind) noexcept
      : home(&its_home), kind(its_kind) {}
  virtual ~link_envelope() = default;
  /// Destroys what it carries.
  virtual void clear() noexcept {}
};

/// First in, first out. For one thread.
class envelope_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void append(link_envelope& added) noexcept {
    added.next = nullptr;
    (first_ != nullptr ? last_->next : first_) = &added;
    last_ = &added;
    ++size_;
  }
  /// Not if empty().
  link_envelope& pop() noexcept {
    link_envelope& taken = *first_;
    first_ = taken.next;
    --size_;
    return taken;
  }

 private:
  link_envelope* first_ = nullptr;
  link_envelope* last_ = nullptr;
  std::size_t size_ = 0;
};

/// What the other side has sent, and this one has not looked at. Any number of writers, one reader.
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

/// A strand's wait for a reply.
struct link_wait : wait_node {
  link_envelope* envelope = nullptr;
};

/// A strand's wait until its one-way message is one of at most `most` that were not received.
struct room_wait : wait_node {
  std::size_t most = 0;
  link_envelope* letter = nullptr;  // not sent, yet or for ever
};

/// A message that is being handled, by a strand of its own. Its place in the list moves with it.
struct link_job {
  link_side* side;
  link_envelope* call;  // to be replied to; null: one-way, or the link was closed meanwhile
  strand_block* strand = nullptr;
  link_job* next = nullptr;
  link_job* previous = nullptr;

  link_job(link_side& its_side, link_envelope* its_call) noexcept;
  link_job(link_job&& other) noexcept;
  link_job& operator=(link_job&&) = delete;
  /// If it has not ended: its strand was destroyed.
  ~link_job();
  /// The handler is over. To be called once the reply is in the envelope.
  void end(const std::exception_ptr& error) noexcept;
};

/// The strands that wait for the end of a link's messages.
struct finish_list final : wait_list {
  link_side& side;
  finish_list(link_side& its_side, const std::string& name) noexcept
      : wait_list("the end of link", name, &given_up), side(its_side) {}

 private:
  static bool given_up(wait_list& list, wait_node& node);
};

/// What both ends of a link share.
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

/// One end of a link, without its types.
///
/// What the other side may touch: `incoming_`, `bell_`, `owner_`, `spare_` and `wants_receipts_`.
/// All else belongs to the scheduler to which the side is bound; the queue carries along what was
/// written before.
///
/// Invariants: the bell is in at most one inbox, and `rung` is set while it is. Where the queue is
/// not empty and the side is bound, the bell is rung, or its owner is about to look.
class link_side : private parallel::message {
 public:
  link_side(link_core& core, link_side& peer) noexcept
      : message(&deliver_bell),
        core_(core),
        peer_(&peer),
        closing_(*this, envelope_kind::closing) {}
  link_side(const link_side&) = delete;
  link_side& operator=(const link_side&) = delete;

  // ---- for the end, and what waits on it; in the scheduler to which it is bound
  // ------------------

  /// From the first use on the end belongs to the scheduler that runs. Throws std::logic_error in
  /// another one, or in none.
  void bind() {
    const coop::scheduler* const here = this_scheduler();
    if (owner_.load(std::memory_order_relaxed) != here || here == nullptr) [[unlikely]] {
      bind_first();
    }
    if (!incoming_.empty()) receive();
  }
  /// Belongs to no scheduler any more. Throws std::logic_error while strands wait on it, or handle
  /// messages.
  void unbind();
  void close() noexcept;
  /// close(), and nobody holds the end any more.
  void abandon() noexcept;

  [[nodiscard]] bool closed() const noexcept { return closed_ || peer_closed_; }
  [[noreturn]] void throw_closed() const;

  /// An envelope to be filled and sent.
  link_envelope& take_envelope(envelope_kind kind) {
    if (free_ == nullptr) [[unlikely]] {
      refill();
    }
    link_envelope& taken = *free_;
    free_ = taken.next;
    taken.kind = kind;
    taken.state.store(call_state::sent, std::memory_order_relaxed);
    return taken;
  }
  /// It is home, and not needed any more.
  void keep(link_envelope& unused) noexcept {
    unused.clear();
    unused.error.reset();
    unused.wait = nullptr;
    unused.next = free_;
    free_ = &unused;
  }
  /// Hands it to the other side; false if that takes nothing more.
  [[nodiscard]] bool send(link_envelope& letter) noexcept { return peer_->push(letter); }

  /// Whether one more may be sent, if at most `most` may be under way, and nobody waits for that.
  [[nodiscard]] bool has_room(std::size_t most) noexcept {
    if (rooms_.empty() && unreceived_ >= most) reclaim();
    return rooms_.empty() && unreceived_ < most;
  }
  /// Hands a one-way message to the other side; false if that takes nothing more.
  [[nodiscard]] bool send_one_way(link_envelope& letter) noexcept {
    ++unreceived_;  // before it is received
    if (!closed() && send(letter)) return true;
    --unreceived_;
    return false;
  }
  /// Of one that was not sent. Throws link_closed.
  [[noreturn]] void return_one_way(link_envelope& letter) {
    returned_.append(letter);
    throw_closed();
  }
  /// Sends its letter as soon as there is room; then the strand is ready.
  void park_for_room(strand_block& self, room_wait& wait) noexcept;
  /// Looks out for the reply for a short time, if there is nothing else to do.
  [[nodiscard]] bool reply_comes_soon(const link_envelope& call) const noexcept;

  void park_call(strand_block& self, link_wait& wait, link_envelope& call) noexcept;
  /// The strand of a call that was sent is gone.
  void give_up_call(link_envelope& call) noexcept;

  [[nodiscard]] bool is_finished() const noexcept {
    return jobs_ == nullptr && (cancelled_ || (closed() && (arrived_.empty() || !has_handler_)));
  }
  void park_finished(strand_block& self, wait_node& node) noexcept {
    wait_in(self, node, finished_);
  }

  [[nodiscard]] const std::string& name() const noexcept { return core_.name; }
  [[nodiscard]] std::size_t queued() const noexcept { return arrived_.size(); }
  /// What came back, also while nothing runs.
  [[nodiscard]] envelope_list& returned() noexcept {
    if (!incoming_.empty()) collect();
    return returned_;
  }

  /// For what waits on it, and so keeps it.
  void pin() noexcept { ++users_; }
  void unpin() noexcept {
    --users_;
    release_if_unused();
  }

 protected:
  ~link_side();

  // ---- what the types know
  // ------------------------------------------------------------------------

  virtual link_envelope& make_envelope() = 0;
  /// Handles a message, in a strand that it spawns.
  virtual void start(link_envelope& letter) = 0;
  /// The handler may not be needed any more.
  virtual void drop_handler() noexcept = 0;

  // ---- what is other for a side that is a connection
  // ----------------------------------------------

  /// A message has come.
  virtual void arrive(link_envelope& letter) noexcept {
    arrived_.append(letter);
    start_ready();
  }
  /// A call of this side is over.
  virtual void arrive_over(link_envelope& call) noexcept;
  virtual void arrive_returned(link_envelope& letter) noexcept {
    --unreceived_;
    returned_.append(letter);
  }
  /// So many of the one-way messages sent from here were received, as their envelopes say that came
  /// back.
  virtual void note_receipts(std::size_t count) noexcept { unreceived_ -= count; }
  virtual void peer_has_closed() noexcept {}

  /// Throws if there can be no handler for so many at once now.
  void check_handler(std::size_t most) const;
  [[nodiscard]] coop::scheduler& owner() const noexcept {
    return *owner_.load(std::memory_order_relaxed);
  }
  /// Whose job was made last. Counted until that has ended: a strand that somebody holds cannot
  /// move, and a job's end belongs to this scheduler.
  void note_strand(strand_block& strand) noexcept {
    ++strand.references;
    jobs_->strand = &strand;
  }
  /// A handler is there, for at most so many messages at once.
  void serve(std::size_t most) noexcept {
    has_handler_ = true;
    most_ = most;
    start_ready();
  }
  [[nodiscard]] link_side& peer() const noexcept { return *peer_; }
  [[nodiscard]] bool has_handler() const noexcept { return has_handler_; }

  /// Ends a call of the other side, with what is in the envelope.
  static void settle(link_envelope& call, call_outcome outcome) noexcept;
  /// Of the other side, and not needed any more.
  static void give_back(link_envelope& unused) noexcept;
  /// Of the other side, which gets it back.
  static void send_back(link_envelope& letter) noexcept;
  /// From now on note_receipts() is called soon after each receipt.
  void want_receipts() noexcept {
    wants_all_receipts_ = true;
    wants_receipts_.store(true, std::memory_order_seq_cst);
  }
  /// Why it is closed, if it was not by its ends.
  void set_reason(std::string_view reason) { peer_->reason_ = reason; }

 private:
  friend link_job;
  friend finish_list;

  // Of bell_.
  static constexpr std::uint32_t rung = 1;
  static constexpr std::uint32_t released = 2;  // the last one to hold the bell drops the core

  bool push(link_envelope& added) noexcept;
  void ring() noexcept;
  void receive() noexcept;
  void collect() noexcept;
  void sort(link_envelope* oldest) noexcept;
  static void deliver_bell(message& self, parallel::group* to) noexcept;
  void find_owner(parallel::group& here) noexcept;
  void bind_first();
  void require_owner() const noexcept;
  [[nodiscard]] std::string name_for_errors() const;
  void refill();
  void reclaim() noexcept;
  void tell_receipt() noexcept;
  void grant_room() noexcept;
  void close_rooms() noexcept;
  void start_ready() noexcept;
  void job_ended() noexcept;
  void cancel_jobs() noexcept;
  static void refuse(link_envelope& letter) noexcept;
  void close_calls() noexcept;
  void tell_if_finished() noexcept;
  /// The last that is done in any call: the side may be gone afterwards.
  void release_if_unused() noexcept {
    if (abandoned_ && users_ == 0 && jobs_ == nullptr) [[unlikely]] {
      release();
    }
  }
  void release() noexcept;
  static bool call_given_up(wait_list& list, wait_node& node);

  // What the other side writes, on lines of their own.
  alignas(parallel::detail::line_bytes) envelope_queue incoming_;
  std::atomic<std::uint32_t> bell_{0};
  std::atomic<coop::scheduler*> owner_{nullptr};
  alignas(parallel::detail::line_bytes) std::atomic<link_envelope*> spare_{nullptr};
  std::atomic<bool> wants_receipts_{false};  // whoever puts an envelope into spare_ is to ring

  alignas(parallel::detail::line_bytes) link_core& core_;
  link_side* const peer_;
  link_envelope* free_ = nullptr;
  link_envelope* made_ = nullptr;
  envelope_list arrived_;   // messages that no strand handles yet
  envelope_list returned_;  // our one-way messages that nobody took
  link_job* jobs_ = nullptr;
  std::size_t running_ = 0;
  std::size_t most_ = std::numeric_limits<std::size_t>::max();
  std::size_t users_ = 0;
  std::size_t unreceived_ = 0;  // one-way messages sent from here, whose envelopes are not back
  bool wants_all_receipts_ = false;
  bool granting_ = false;
  bool has_handler_ = false;
  bool closed_ = false;       // this end
  bool peer_closed_ = false;  // the other one
  bool abandoned_ = false;    // nobody holds the end
  bool cancelled_ = false;    // whoever waited for the end is to end, and what is handled, too
  std::string reason_;        // written before the closing was sent
  link_envelope closing_;
  wait_list calls_{"a reply over link", core_.name, &call_given_up};
  wait_list rooms_{"receipts over link", core_.name};
  finish_list finished_{*this, core_.name};
};

/// Keeps a side while something waits on it. Taken late, as awaitables are moved before.
class link_pin {
 public:
  link_pin() noexcept = default;
  link_pin(link_pin&& other) noexcept : side_(std::exchange(other.side_, nullptr)) {}
  link_pin& operator=(link_pin&&) = delete;
  ~link_pin() {
    if (side_ != nullptr) side_->unpin();
  }
  void take(link_side& side) noexcept {
    side_ = &side;
    side.pin();
  }

 private:
  link_side* side_ = nullptr;
};

/// The same for a handler as a fiber and as a task: what it threw, as the caller is told.
[[nodiscard]] std::unique_ptr<handler_error> describe(const std::exception_ptr& error);
[[noreturn]] void throw_handler_failed(const handler_error& error);

}  // namespace heddle::coop::detail
