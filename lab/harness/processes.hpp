#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "harness/counters.hpp"
#include "harness/deadlock.hpp"
#include "heddle/coop/concurrent.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/yield.hpp"

namespace heddle::lab {

/// A semaphore of our scheduler whose P operations go to the counters when it is destroyed. One
/// that blocks is a switch.
class counted_semaphore : public coop::semaphore {
 public:
  using coop::semaphore::semaphore;
  ~counted_semaphore() {
    counters& mine = count();
    mine.p_operations += p_count();
    mine.blocked_p_operations += blocked_p_count();
    mine.strand_switches += blocked_p_count();
  }
};

/// Slices of a length of time, told by a ticker: a checkpoint is the look at a flag.
class timed_slices {
 public:
  timed_slices(coop::scheduler& on, coop::duration slice) : slices_(on, slice) {}
  [[nodiscard]] std::uint64_t switches() const { return slices_.switches(); }
  [[gnu::always_inline]] static void checkpoint() { coop::await(coop::checkpoint()); }

 private:
  coop::concurrent slices_;
};

/// Slices of a number of checkpoints, as SR has them: its compiler has each turn of a loop
/// decrement a counter in memory and branch where that is spent (`sr_max_loops`). Only the switch
/// is out of line. coop::concurrent counts checkpoints, too, but by a call at each.
///
/// One at a time in a process, and its strands on one thread: the counter is no thread's own.
class counted_slices {
 public:
  counted_slices(coop::scheduler& on, coop::checkpoints slice) {
    left_ = per_slice_ = slice.count;
    switches_ = 0;
    scheduler_ = &on;
  }
  ~counted_slices() { scheduler_ = nullptr; }
  counted_slices(const counted_slices&) = delete;
  counted_slices& operator=(const counted_slices&) = delete;

  [[nodiscard]] static std::uint64_t switches() { return switches_; }
  [[gnu::always_inline]] static void checkpoint() {
    if (--left_ == 0) [[unlikely]] {
      end_slice();
    }
  }

 private:
  [[gnu::cold, gnu::noinline]] static void end_slice() {
    left_ = per_slice_;
    ++switches_;
    coop::scheduler_access::look_at_timers(*scheduler_);
    coop::await(coop::yield());
  }

  static inline constinit std::uint32_t left_ = 0;  // checkpoints of the running slice
  static inline constinit std::uint32_t per_slice_ = 0;
  static inline constinit std::uint64_t switches_ = 0;
  static inline constinit coop::scheduler* scheduler_ = nullptr;
};

/// The concurrent model (CP) on our own runtime: fibers on one processor, switched implicitly when
/// their slice is over, a length of time or a number of checkpoints.
template <class Slice>
class processes {
  using slices =
      std::conditional_t<std::is_same_v<Slice, coop::checkpoints>, counted_slices, timed_slices>;

 public:
  /// A semaphore of these processes, before each P of which the slice may end: "context switches
  /// can occur arbitrarily" (Euro-Par 2000, section 1).
  class semaphore : public counted_semaphore {
   public:
    using counted_semaphore::counted_semaphore;
    void P() {
      slices::checkpoint();
      coop::await(counted_semaphore::P());
    }
  };

  explicit processes(Slice slice) : slices_(scheduler_, slice) {}
  ~processes() { count().strand_switches += slices_.switches(); }
  processes(const processes&) = delete;
  processes& operator=(const processes&) = delete;

  template <class Body>
  coop::strand<> spawn(Body body) {
    return scheduler_.spawn(std::move(body));
  }
  /// On the back edge of loops; as a call it would cost each iteration some 15 % more.
  static constexpr auto checkpoint = []() __attribute__((always_inline)) { slices::checkpoint(); };
  /// Lets the others run: SR's nap(0), where a process says so itself.
  static void give_way() {
    ++count().strand_switches;
    coop::await(coop::yield());
  }
  /// Until all have ended. A deadlock is the program's result, as it is of kernel threads.
  void run() {
    try {
      scheduler_.run();
    } catch (const coop::deadlock& found) {
      end_in_deadlock(found.what());
    }
  }

 private:
  coop::scheduler scheduler_;
  slices slices_;
};

/// A semaphore of processes with slices of time.
using process_semaphore = processes<coop::duration>::semaphore;

}  // namespace heddle::lab
