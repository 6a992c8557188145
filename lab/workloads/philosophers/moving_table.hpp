#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "harness/waits.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "workloads/philosophers/workload.hpp"

namespace heddle::lab::philosophers {

/// The table of Figure 3 whose border philosophers move from one region to the other at run time
/// (section 4), while others synchronise. Two regions, a group each. A fork within a region is a
/// variable, one between two regions a semaphore.
///
/// A move changes two forks' kinds, and so three philosophers' roles: the fork that the one who
/// moves shares with those left behind becomes a semaphore, the one that is shared with the region
/// where it goes becomes a variable. The philosopher moves when it has both forks, so that nobody
/// else has either. Each kind is changed in the group of the neighbour who shares that fork, before
/// and after the way: so the two who read it are never on two processors meanwhile.
/// - The neighbour left behind may wait for the variable: its condition sees the change.
/// - The new neighbour may wait for the semaphore: it gets a permit that is void.
///
/// Invariants: a fork that is a variable has a semaphore without permits; nobody has two border
/// forks, as each region keeps two philosophers at least.
class moving_table {
 public:
  /// Whether `who`, at the border and with both forks, is to move.
  using policy = std::function<bool(int who)>;

  /// Throws usage_error unless there are two regions of two philosophers at least. Without a policy
  /// a philosopher moves if the other region has less to do by more than twice what it takes along.
  moving_table(problem& work, coop::parallel::groups& among, policy wants_to_move = {});

  /// All meals of a philosopher: the body of a fiber, begun in the group of its region.
  void dine(int who);

  // Once all have left.
  [[nodiscard]] std::int64_t moves() const;
  [[nodiscard]] int lost_forks();
  void add_waits() const;

 private:
  static constexpr int between = -1;

  struct alignas(64) fork {
    int region = between;  // whose variable it is
    bool lies_there = true;
    coop::parallel::semaphore border{0};

    [[nodiscard]] bool is_border() const { return region == between; }
  };
  struct alignas(64) seat {
    int region = 0;
    std::int64_t work_left = 0;      // iterations
    const fork* waits_at = nullptr;  // whose semaphore
    bool has_void_permit = false;    // by the one who made a variable of that fork
  };
  struct alignas(64) region_state {
    int philosophers = 0;
    std::int64_t moves = 0;  // to it
    waits done;
    std::atomic<std::int64_t> work_left{0};  // written by its own group
  };

  fork& left(int who) { return forks_[static_cast<std::size_t>(work_.left(who))]; }
  fork& right(int who) { return forks_[static_cast<std::size_t>(work_.right(who))]; }
  seat& seat_of(int who) { return seats_[static_cast<std::size_t>(who)]; }
  region_state& region_at(int which) { return regions_[static_cast<std::size_t>(which)]; }

  void give_way(int who);
  void take_both(int who);
  void put_back(int who);
  [[nodiscard]] bool is_to_move(int who);
  void move(int who);
  static void add(region_state& to, std::int64_t work);

  problem& work_;
  coop::parallel::groups& groups_;
  policy wants_to_move_;
  std::deque<fork> forks_;
  std::deque<seat> seats_;
  std::deque<region_state> regions_;
};

}  // namespace heddle::lab::philosophers
