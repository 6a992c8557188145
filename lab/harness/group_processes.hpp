#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "harness/counters.hpp"
#include "heddle/coop/concurrent.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "heddle/coop/yield.hpp"

namespace heddle::lab {

/// The concurrent model (CP) on our own runtime, on several processors: the partner of PCM, as
/// `processes` is that of CM. Fibers that are switched implicitly when their slice of time is over,
/// one group of them on each processor, and all of them synchronise by semaphores between groups,
/// those of one group, too: no fiber may rely on where another one is.
///
/// Which processor a fiber is on is settled when it is made, by turns if its maker does not say, so
/// that neighbours are on different ones: kernel threads are moved where one is idle, these are
/// not.
class group_processes {
 public:
  /// A semaphore of these processes. Before each P the slice may end.
  class semaphore : public coop::parallel::semaphore {
   public:
    using coop::parallel::semaphore::semaphore;
    ~semaphore() {
      counters& mine = lab::count();
      mine.p_operations += p_count();
      mine.blocked_p_operations += blocked_p_count();
      mine.strand_switches += blocked_p_count();
    }
    void P() {
      checkpoint();
      coop::await(coop::parallel::semaphore::P());
    }
  };

  group_processes(std::size_t count, coop::duration slice)
      : slice_(slice), groups_({.count = count}), each_(count) {}
  group_processes(const group_processes&) = delete;
  group_processes& operator=(const group_processes&) = delete;

  /// Kernel threads: the main one, each group's, and each group's ticker.
  [[nodiscard]] std::uint64_t kernel_threads() const { return 1 + 2 * each_.size(); }

  /// Before run().
  template <class Body>
  void spawn(Body body) {
    spawn_at(next_++ % each_.size(), std::move(body));
  }
  /// In the group of that number.
  template <class Body>
  void spawn_at(std::size_t at, Body body) {
    ++each_[at].running;
    groups_[at].spawn([this, at, body = std::move(body)] {
      of_group& mine = each_[at];
      // A scheduler's slices belong to the thread that makes them, which is the group's.
      if (!mine.slices) mine.slices.emplace(groups_[at].scheduler(), slice_);
      body();
      if (--mine.running > 0) return;
      lab::count().strand_switches += mine.slices->switches();
      mine.slices.reset();
    });
  }

  /// On the back edge of loops.
  static constexpr auto checkpoint = []() __attribute__((always_inline)) {
    coop::await(coop::checkpoint());
  };

  /// Lets the others of its processor run.
  static void give_way() {
    ++lab::count().strand_switches;
    coop::await(coop::yield());
  }
  /// Until all have ended. Throws coop::deadlock.
  void run() { groups_.run(); }

 private:
  struct alignas(64) of_group {
    std::optional<coop::concurrent> slices;  // from its first strand's begin to its last one's end
    int running = 0;
  };

  coop::duration slice_;
  coop::parallel::groups groups_;
  std::vector<of_group> each_;
  std::size_t next_ = 0;
};

}  // namespace heddle::lab
