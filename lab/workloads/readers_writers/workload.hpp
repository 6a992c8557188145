#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model.hpp"
#include "harness/waits.hpp"
#include "harness/work_loop.hpp"

namespace heddle::lab::readers_writers {

/// Readers and writers of one record (Euro-Par 2000, section 3): readers may read together, a
/// writer is alone. `work` iterations between two visits, `inside` of reading or writing.
///
/// - thread, goroutine, concurrent: the textbook's two semaphores, readers first (Andrews and
///   Olsson, The SR Programming Language): one guards the number of readers, the other is what the
///   first reader takes for all, or a writer. concurrent/counted: slices of `slice-steps`
///   iterations instead of a time.
/// - cooperative: the numbers of readers and writers at the record; a reader waits until no writer
///   is there, a writer until no strand is. Switches happen only where a strand waits, so no two
///   ever meet; with `yield` they also give way between visits, or during them.
///   cooperative/asm and /stackless wait by waitfor, /asm-loop by unnamed yields, /asm-watched by
///   wait_until.
/// - parallel: two regions of strands, a group each. Within a region as cooperative; a region holds
///   a semaphore while any of its strands is at the record.
/// - concurrent/groups: the program of concurrent on as many processors, strands by turns.
/// - serial: one after the other.
///
/// With `yields-inside` a strand, in each model but serial and goroutine, gives way that often
/// during a visit, so that others find one at the record under CM, too.
///
/// All on one processor, or on as many as `processors` says.
///
/// Metrics: `visit_ns` and `visit_cpu_ns`, the run divided by all visits.
class problem {
 public:
  static constexpr std::string_view name = "readers-writers";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] int readers() const { return readers_; }
  [[nodiscard]] int writers() const { return writers_; }
  /// Strands are numbered: first the readers.
  [[nodiscard]] int strands() const { return readers_ + writers_; }
  [[nodiscard]] bool is_reader(int who) const { return who < readers_; }
  /// Visits of each.
  [[nodiscard]] std::int64_t visits() const { return visits_; }
  [[nodiscard]] bool yields_outside() const { return yields_outside_; }
  /// How often a strand gives way during a visit; cooperative ones once more with yield=inside.
  [[nodiscard]] int yields_inside() const { return yields_inside_; }
  [[nodiscard]] int cooperative_yields_inside() const {
    return yields_inside_ + (also_yields_inside_ ? 1 : 0);
  }
  [[nodiscard]] std::int64_t slice_ns() const { return slice_ns_; }
  [[nodiscard]] std::int64_t slice_steps() const { return slice_steps_; }

  template <class Checkpoint>
  void work_outside(int who, Checkpoint&& checkpoint) {
    strand& own = strands_[static_cast<std::size_t>(who)];
    own.value = work_loop(own.value, work_, checkpoint);
  }
  /// Reads, or writes; `pause()` is called in the midst of it, where a strand may yield.
  template <class Checkpoint, class Pause>
  void visit(int who, Checkpoint&& checkpoint, Pause&& pause) {
    begin(who);
    work_inside(who, checkpoint);
    pause();
    end(who);
  }
  /// visit() in its parts, for those who cannot wait inside of a call.
  void begin(int who);
  template <class Checkpoint>
  void work_inside(int who, Checkpoint&& checkpoint) {
    strand& own = strands_[static_cast<std::size_t>(who)];
    own.value = work_loop(own.value, inside_, checkpoint);
  }
  void end(int who);

  /// Under CP: a checkpoint is passed at each iteration.
  void has_checkpoints() { has_checkpoints_ = true; }
  /// Under CM: what waiting came to.
  void waited(const waits& done);

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  struct alignas(64) strand {
    std::uint64_t value = 0;
    std::int64_t visits = 0;
    std::int64_t version = 0;  // of the record, when the visit began
    std::int64_t disturbed = 0;
  };

  std::int64_t work_;
  std::int64_t inside_;
  int readers_;
  int writers_;
  std::int64_t visits_;
  bool yields_outside_;
  int yields_inside_;
  bool also_yields_inside_;
  std::int64_t slice_ns_;
  std::int64_t slice_steps_;

  std::vector<strand> strands_;
  // The record: its version in each field. A writer writes the first half when it begins and the
  // second when it ends, so a strand that comes in between sees that they differ. Relaxed atomics:
  // what orders them is the synchronisation that is tested here; where it fails, the numbers are to
  // tell.
  std::array<std::atomic<std::int64_t>, 4> record_{};
  std::uint64_t evaluations_ = 0;
  bool has_checkpoints_ = false;
};

inline void problem::begin(int who) {
  strand& own = strands_[static_cast<std::size_t>(who)];
  own.version = record_[0].load(std::memory_order_relaxed);
  for (const auto& field : record_) {
    if (field.load(std::memory_order_relaxed) != own.version) ++own.disturbed;
  }
  if (is_reader(who)) return;
  ++own.version;
  for (std::size_t i = 0; i < record_.size() / 2; ++i) {
    record_[i].store(own.version, std::memory_order_relaxed);
  }
}

inline void problem::end(int who) {
  strand& own = strands_[static_cast<std::size_t>(who)];
  const std::int64_t second_half = is_reader(who) ? own.version : own.version - 1;
  for (std::size_t i = 0; i < record_.size(); ++i) {
    const std::int64_t expected = i < record_.size() / 2 ? own.version : second_half;
    if (record_[i].load(std::memory_order_relaxed) != expected) ++own.disturbed;
  }
  ++own.visits;
  if (is_reader(who)) return;
  for (std::size_t i = record_.size() / 2; i < record_.size(); ++i) {
    record_[i].store(own.version, std::memory_order_relaxed);
  }
}

}  // namespace heddle::lab::readers_writers
