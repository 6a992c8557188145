#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model.hpp"
#include "harness/waits.hpp"
#include "harness/work_loop.hpp"

namespace heddle::lab::buffer {

/// The bounded buffer (Euro-Par 2000, section 3): xPyCzS, x producers, y consumers, z slots. A
/// producer takes `work` iterations to produce an item, a consumer `consume` to consume it, either
/// `inside` with its hand in the buffer.
///
/// - thread, goroutine, concurrent: semaphores `empty` and `full`, and one each that keeps several
///   producers, or consumers, out of each other's way (Andrews and Olsson, The SR Programming
///   Language). concurrent/counted: slices of `slice-steps` iterations instead of a time.
///   concurrent/groups: on two processors, strands by turns; concurrent/groups-placed: as
///   parallel's.
/// - cooperative: the number of items in the buffer; a producer waits until it is less than the
///   slots, a consumer until it is not 0. cooperative/asm and /stackless wait by waitfor, /asm-loop
///   by unnamed yields, /asm-named by a yield to one of the other side, each in turn, /asm-watched
///   by wait_until.
/// - parallel (section 3.2): all producers in one group, all consumers in another, a processor
/// each.
///   `empty` and `full` are semaphores between them; on either side nothing more is needed.
///   thread/groups is that as the source simulated it, on kernel threads: semaphores protect what
///   either side shares, and what both share, the numbers of empty and of full slots, for which a
///   side waits by looking again and again; thread/groups-baton: until the other passes it the
///   baton.
/// - serial: one loop that fills the buffer and empties it.
///
/// All on one processor, or on as many as `processors` says.
///
/// Metrics: `item_ns` and `item_cpu_ns`, the run divided by all items.
class problem {
 public:
  static constexpr std::string_view name = "buffer";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] int producers() const { return static_cast<int>(producers_.size()); }
  [[nodiscard]] int consumers() const { return static_cast<int>(consumers_.size()); }
  [[nodiscard]] int slots() const { return static_cast<int>(slots_.size()); }
  /// Items of one producer.
  [[nodiscard]] std::int64_t items() const { return items_; }
  [[nodiscard]] std::int64_t all_items() const { return items_ * producers(); }
  /// Items that a consumer has to take.
  [[nodiscard]] std::int64_t share_of(int consumer) const {
    return all_items() / consumers() + (consumer < all_items() % consumers() ? 1 : 0);
  }
  /// Under CP: pairs of P and V at each item on a semaphore for which no other strand asks, so that
  /// the number of P operations varies while blocked ones and switches do not.
  [[nodiscard]] int pairs() const { return pairs_; }
  [[nodiscard]] std::int64_t slice_ns() const { return slice_ns_; }
  [[nodiscard]] std::int64_t slice_steps() const { return slice_steps_; }

  template <class Checkpoint>
  void produce(int who, Checkpoint&& checkpoint) {
    source& own = producers_[static_cast<std::size_t>(who)];
    own.value = work_loop(own.value, work_, checkpoint);
  }
  /// Puts what was produced into the buffer, which has a free slot. One producer at a time.
  template <class Checkpoint>
  void deposit(int who, Checkpoint&& checkpoint) {
    source& own = producers_[static_cast<std::size_t>(who)];
    const std::size_t at = rear_.load(std::memory_order_relaxed);
    slot& to = slots_[at];
    if (to.full.load(std::memory_order_relaxed)) wrong();
    to.producer.store(who, std::memory_order_relaxed);
    to.number.store(own.deposited++, std::memory_order_relaxed);
    to.value.store(own.value, std::memory_order_relaxed);
    own.inside = work_loop(own.inside, inside_, checkpoint);
    to.full.store(true, std::memory_order_relaxed);
    rear_.store(after(at), std::memory_order_relaxed);
  }
  /// Takes the oldest item out of the buffer, which has one. One consumer at a time.
  template <class Checkpoint>
  void fetch(int who, Checkpoint&& checkpoint) {
    sink& own = consumers_[static_cast<std::size_t>(who)];
    const std::size_t at = front_.load(std::memory_order_relaxed);
    slot& from = slots_[at];
    if (!from.full.load(std::memory_order_relaxed)) wrong();
    const int producer = from.producer.load(std::memory_order_relaxed);
    own.value = from.value.load(std::memory_order_relaxed);
    own.sum += own.value;
    std::atomic<std::int64_t>& due = producers_[static_cast<std::size_t>(producer)].due;
    const std::int64_t number = from.number.load(std::memory_order_relaxed);
    if (number != due.load(std::memory_order_relaxed)) wrong();
    own.inside = work_loop(own.inside, inside_, checkpoint);
    due.store(number + 1, std::memory_order_relaxed);
    from.full.store(false, std::memory_order_relaxed);
    front_.store(after(at), std::memory_order_relaxed);
  }
  template <class Checkpoint>
  void consume(int who, Checkpoint&& checkpoint) {
    sink& own = consumers_[static_cast<std::size_t>(who)];
    own.value = work_loop(own.value, consume_, checkpoint);
  }

  /// Under CP: a checkpoint is passed at each iteration.
  void has_checkpoints() { has_checkpoints_ = true; }
  /// Under CM: what waiting came to.
  void waited(const waits& done);

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  // Relaxed atomics where several strands come by: what orders them is the synchronisation that is
  // tested here; where it fails, the numbers are to tell.
  struct alignas(64) source {
    std::uint64_t value = 0;
    std::uint64_t inside = 0;
    std::int64_t deposited = 0;
    std::atomic<std::int64_t> due{0};  // the number of its item that is to be fetched next
  };
  struct alignas(64) sink {
    std::uint64_t value = 0;
    std::uint64_t inside = 0;
    std::uint64_t sum = 0;
  };
  struct alignas(64) slot {
    std::atomic<bool> full{false};
    std::atomic<int> producer{0};
    std::atomic<std::int64_t> number{0};
    std::atomic<std::uint64_t> value{0};
  };

  [[nodiscard]] std::size_t after(std::size_t at) const {
    return at + 1 < slots_.size() ? at + 1 : 0;
  }
  void wrong() { wrong_.fetch_add(1, std::memory_order_relaxed); }

  std::int64_t work_;
  std::int64_t inside_;
  std::int64_t consume_;
  std::int64_t items_;
  int pairs_;
  std::int64_t slice_ns_;
  std::int64_t slice_steps_;

  std::vector<source> producers_;
  std::vector<sink> consumers_;
  std::vector<slot> slots_;
  alignas(64) std::atomic<std::size_t> rear_{0};
  alignas(64) std::atomic<std::size_t> front_{0};
  alignas(64) std::atomic<std::int64_t> wrong_{0};
  std::uint64_t evaluations_ = 0;
  bool has_checkpoints_ = false;
};

}  // namespace heddle::lab::buffer
