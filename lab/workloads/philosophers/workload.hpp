#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model.hpp"
#include "harness/waits.hpp"
#include "harness/work_loop.hpp"

namespace heddle::lab::philosophers {

/// The dining philosophers (Euro-Par 2000, Figure 1): each thinks, gets both forks, eats, and
/// releases them. `work` iterations of thinking, `inside` of eating.
///
/// - thread, goroutine, concurrent: a semaphore for each fork, P of the left one and then of the
///   right one, as Figure 1(a) prints it. That may deadlock; with order=reversed the last
///   philosopher begins with the right one, and it cannot. concurrent/counted: slices of
///   `slice-steps` iterations instead of a time, as SR has them (`sr_max_loops`).
///   concurrent/groups: on as many processors as there are regions, neighbours on different ones.
/// - cooperative: an integer for each fork, both taken at once when both are there, as Figure 1(b)
///   prints it. Switches happen only where a philosopher waits, so a philosopher never meets a fork
///   that is taken; with `yield` they also give way while they think, or eat.
///   cooperative/asm and /stackless wait by waitfor, /asm-loop by the loop that the figure writes
///   out, /asm-watched by wait_until.
/// - parallel (section 3.2, Figure 3): `regions` of philosophers, a group and a processor each;
///   within a region as cooperative, but a fork between two regions is a semaphore.
///   parallel/asm-semaphores: every fork is one, so that any philosopher may be on either side;
///   parallel/asm-balanced: there the balancer moves them, where they yield. parallel/asm-moved: as
///   parallel/asm, but border philosophers move, which changes forks' kinds (moving_table.hpp).
///   thread/groups and thread/regions are the programs DP_1 and DP_2 by which the source simulated
///   that, on kernel threads that may run anywhere: semaphores protect each region's integers, and
///   in DP_2 one more lets only one philosopher of a region run.
/// - serial: the same thinking and eating, one philosopher after the other.
///
/// With `yields-inside` a philosopher, in each model but serial and goroutine, gives way that often
/// while eating, so that neighbours find forks taken under CM, too.
///
/// With `uneven` the philosophers of the first region think that many times as long.
///
/// With `io-us` each philosopher also waits that long for the food, on a device: in the kernel, as
/// a read() that blocks does (io=blocking), or in the scheduler where there is one (io=awaited).
///
/// All on one processor, or on as many as `processors` says.
///
/// Metrics: `meal_ns` and `meal_cpu_ns`, the run divided by all meals; `spread`, the meals of the
/// philosopher who was done first divided by those that the hungriest had had by then, each plus
/// one: 1 is fair; `schedules` (--schedule=1), in how many different orders three runs ate.
class problem {
 public:
  static constexpr std::string_view name = "philosophers";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] int philosophers() const { return static_cast<int>(seats_.size()); }
  [[nodiscard]] std::int64_t meals() const { return meals_; }
  [[nodiscard]] int left(int who) const { return who; }
  [[nodiscard]] int right(int who) const { return who + 1 < philosophers() ? who + 1 : 0; }
  /// The fork to take first, and the other one.
  [[nodiscard]] int first(int who) const { return reversed(who) ? right(who) : left(who); }
  [[nodiscard]] int second(int who) const { return reversed(who) ? left(who) : right(who); }
  [[nodiscard]] int regions() const { return static_cast<int>(regions_); }
  /// Throws usage_error where a region would be one philosopher.
  void require_regions() const;
  /// Neighbours; as many in each region, give or take one.
  [[nodiscard]] int region_of(int who) const { return who * regions() / philosophers(); }
  /// Whether the fork lies between two regions: between its philosopher and the one before.
  [[nodiscard]] bool is_border(int which) const {
    return region_of(which) != region_of(which > 0 ? which - 1 : philosophers() - 1);
  }
  /// Whether all take the left fork first, and wait for nothing but forks: then they may deadlock,
  /// and who sleeps waits for a neighbour.
  [[nodiscard]] bool may_deadlock() const { return !last_is_reversed_ && !does_io(); }
  [[nodiscard]] std::int64_t meals_eaten() const;
  [[nodiscard]] bool does_io() const { return io_ns_ > 0; }
  [[nodiscard]] bool awaits_io() const { return awaits_io_; }
  [[nodiscard]] std::int64_t io_ns() const { return io_ns_; }
  /// Waits for the food in the kernel, with whatever else this thread would run.
  void block_for_io() const;
  [[nodiscard]] bool yields_outside() const { return yields_outside_; }
  /// How often a philosopher gives way during a meal, with both forks; cooperative ones once more
  /// with yield=inside.
  [[nodiscard]] int yields_inside() const { return yields_inside_; }
  [[nodiscard]] int cooperative_yields_inside() const {
    return yields_inside_ + (also_yields_inside_ ? 1 : 0);
  }
  [[nodiscard]] std::int64_t slice_ns() const { return slice_ns_; }
  [[nodiscard]] std::int64_t slice_steps() const { return slice_steps_; }

  template <class Checkpoint>
  void think(int who, Checkpoint&& checkpoint) {
    work_on(who, work_of(who), checkpoint);
  }
  /// A meal; `give_way()` lets others run in the midst of it.
  template <class Checkpoint, class GiveWay>
  void eat(int who, Checkpoint&& checkpoint, const GiveWay& give_way) {
    begin_eating(who);
    chew(who, checkpoint);
    for (int i = 0; i < yields_inside_; ++i) give_way();
    end_eating(who);
  }
  /// eat() in its parts, for those who cannot wait inside of a call.
  void begin_eating(int who) {
    take(who, left(who));
    take(who, right(who));
    if (keeps_schedule_) [[unlikely]] {
      note(who);
    }
  }
  template <class Checkpoint>
  void chew(int who, Checkpoint&& checkpoint) {
    work_on(who, inside_, checkpoint);
  }
  void end_eating(int who) {
    put_back(who, left(who));
    put_back(who, right(who));
    std::atomic<std::int64_t>& eaten = seats_[static_cast<std::size_t>(who)].eaten;
    eaten.store(eaten.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// The philosopher has had all meals.
  void leave();

  /// Under CP: a checkpoint is passed at each iteration.
  void has_checkpoints() { has_checkpoints_ = true; }
  /// The work of a meal, thinking included, in iterations.
  [[nodiscard]] std::int64_t work_of_meal(int who) const { return work_of(who) + inside_; }
  /// Where philosophers move: how often they did, and forks that nobody could take at the end.
  void moved(std::int64_t moves, int lost_forks) {
    moves_ = moves;
    lost_forks_ = lost_forks;
  }
  /// Under CM: what waiting came to.
  void waited(const waits& done);

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  // Each on a cache line of its own, as all are written all the time. Relaxed atomics: what orders
  // them is the synchronisation that is tested here; where it fails, the numbers are to tell.
  struct alignas(64) seat {
    std::uint64_t value = 0;
    std::atomic<std::int64_t> eaten{0};
    std::atomic<std::int64_t> met_neighbour{0};
  };
  struct alignas(64) fork {
    std::atomic<int> user{nobody};
  };
  static constexpr int nobody = -1;

  [[nodiscard]] bool reversed(int who) const {
    return last_is_reversed_ && who + 1 == philosophers();
  }
  [[nodiscard]] std::int64_t work_of(int who) const {
    return uneven_ > 1 && region_of(who) == 0 ? work_ * uneven_ : work_;
  }
  [[nodiscard]] std::int64_t iterations() const;
  template <class Checkpoint>
  void work_on(int who, std::int64_t iterations, Checkpoint& checkpoint) {
    seat& own = seats_[static_cast<std::size_t>(who)];
    own.value = work_loop(own.value, iterations, checkpoint);
  }
  // If two have a fork at once, at least one finds the other when it takes the fork or puts it
  // back.
  void take(int who, int which) {
    std::atomic<int>& user = forks_[static_cast<std::size_t>(which)].user;
    if (user.load(std::memory_order_relaxed) != nobody) met(who);
    user.store(who, std::memory_order_relaxed);
  }
  void put_back(int who, int which) {
    std::atomic<int>& user = forks_[static_cast<std::size_t>(which)].user;
    if (user.load(std::memory_order_relaxed) != who) met(who);
    user.store(nobody, std::memory_order_relaxed);
  }
  void met(int who) {
    seats_[static_cast<std::size_t>(who)].met_neighbour.fetch_add(1, std::memory_order_relaxed);
  }
  void note(int who);
  [[nodiscard]] std::int64_t all_meals() const { return meals_ * philosophers(); }

  parameters values_;
  std::int64_t work_;
  std::int64_t inside_;
  std::int64_t uneven_;
  std::int64_t meals_;  // of each
  std::int64_t regions_;
  std::int64_t io_ns_;
  bool awaits_io_;
  std::int64_t slice_ns_;
  std::int64_t slice_steps_;
  bool last_is_reversed_;
  bool yields_outside_;
  int yields_inside_;
  bool also_yields_inside_;
  bool keeps_schedule_;

  std::vector<seat> seats_;
  std::vector<fork> forks_;
  std::atomic<std::uint64_t> schedule_{0};
  std::atomic<int> gone_{0};
  std::int64_t least_at_first_leave_ = 0;
  std::uint64_t evaluations_ = 0;
  bool has_checkpoints_ = false;
  std::int64_t moves_ = 0;
  int lost_forks_ = 0;
};

}  // namespace heddle::lab::philosophers
