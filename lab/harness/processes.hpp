#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <utility>

#include "harness/counters.hpp"
#include "heddle/coop/concurrent.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/sync/semaphore.hpp"

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

/// One of the processes below, before each P of which the slice may end: "context switches can
/// occur arbitrarily" (Euro-Par 2000, section 1).
class process_semaphore : public counted_semaphore {
 public:
  using counted_semaphore::counted_semaphore;
  void P() {
    coop::await(coop::checkpoint());
    coop::await(counted_semaphore::P());
  }
};

/// The concurrent model (CP) on our own runtime: fibers on one processor, switched implicitly when
/// their slice is over, a length of time or a number of checkpoints.
template <class Slice>
class processes {
 public:
  explicit processes(Slice slice) : slices_(scheduler_, slice) {}
  ~processes() { count().strand_switches += slices_.switches(); }
  processes(const processes&) = delete;
  processes& operator=(const processes&) = delete;

  template <class Body>
  coop::strand<> spawn(Body body) {
    return scheduler_.spawn(std::move(body));
  }
  /// On the back edge of loops; as a call it would cost each iteration some 15 % more.
  static constexpr auto checkpoint = []() __attribute__((always_inline)) {
    coop::await(coop::checkpoint());
  };
  /// Until all have ended. A deadlock is a hang, as it is of kernel threads, so that the result of
  /// a program that may deadlock is the same in each model.
  void run() {
    try {
      scheduler_.run();
    } catch (const coop::deadlock& found) {
      std::fprintf(stderr, "%s\n", found.what());
      for (;;) pause();
    }
  }

 private:
  coop::scheduler scheduler_;
  coop::concurrent slices_;
};

}  // namespace heddle::lab
