#include "workloads/philosophers/workload.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "harness/processors.hpp"

namespace heddle::lab::philosophers {
namespace {

// Approximate overhead of a meal, in loop iterations: with it, runs of little work do not last
// longer.
constexpr std::int64_t besides = 10;

// The order in which the last run of this program ate.
std::uint64_t last_schedule = 0;

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("philosophers", 16, 2, 100'000, "and as many forks"),
      parameter::integer("work", 100, 0, 1'000'000'000, "iterations of thinking"),
      parameter::integer("inside", 10, 0, 1'000'000'000, "iterations of eating"),
      parameter::integer("steps", 10'000'000, 1, 1'000'000'000'000,
                         "iterations of all, about: each has the same number of meals, at least 1"),
      parameter::word("order", {"reversed", "printed"},
                      "reversed: the last takes the right fork first; printed: all take the left "
                      "one first and may deadlock"),
      parameter::word(
          "yield", {"none", "outside", "inside", "both"},
          "cooperative: where a philosopher also gives way: outside, thinking; inside, eating"),
      parameter::integer("yields-inside", 0, 0, 1000, "how often each gives way during a meal"),
      parameter::integer("regions", 2, 1, 1000, "parallel, thread/groups, thread/regions"),
      parameter::integer("uneven", 1, 1, 1000, "how many times as long the first region thinks"),
      parameter::integer("io-us", 0, 0, 1'000'000, "what the food takes to come; 0: no wait"),
      parameter::word("io", {"blocking", "awaited"}, "where it is waited for"),
      parameter::integer("processors", 1, 1, 1000, "to run on"),
      parameter::integer("slice-us", 1000, 1, 1'000'000, "concurrent: a time slice"),
      parameter::integer("slice-steps", 10'000, 1, 1'000'000'000,
                         "concurrent/counted: a slice in iterations"),
      parameter::integer("schedule", 0, 0, 1,
                         "1: run twice more, and compare the orders in which they ate"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("steps", std::min<std::int64_t>(values.integer("steps"), 10'000))
      .with("work", std::min<std::int64_t>(values.integer("work"), 1000))
      .with("inside", std::min<std::int64_t>(values.integer("inside"), 1000))
      .with("schedule", 0);
}

problem::problem(const parameters& values)
    : values_(values),
      work_(values.integer("work")),
      inside_(values.integer("inside")),
      uneven_(values.integer("uneven")),
      meals_(std::max<std::int64_t>(1, values.integer("steps") / values.integer("philosophers") /
                                           (work_ + inside_ + besides))),
      regions_(values.integer("regions")),
      io_ns_(1000 * values.integer("io-us")),
      awaits_io_(values.word("io") == "awaited"),
      slice_ns_(1000 * values.integer("slice-us")),
      slice_steps_(values.integer("slice-steps")),
      last_is_reversed_(values.word("order") == "reversed"),
      yields_outside_(values.word("yield") == "outside" || values.word("yield") == "both"),
      yields_inside_(static_cast<int>(values.integer("yields-inside"))),
      also_yields_inside_(values.word("yield") == "inside" || values.word("yield") == "both"),
      keeps_schedule_(values.integer("schedule") != 0),
      seats_(static_cast<std::size_t>(values.integer("philosophers"))),
      forks_(seats_.size()) {
  for (std::size_t i = 0; i < seats_.size(); ++i) seats_[i].value = i;
  pin_to_processors(static_cast<int>(values.integer("processors")));
}

void problem::require_regions() const {
  if (regions_ == 1 || philosophers() >= 2 * regions_) return;
  throw usage_error("--regions=" + std::to_string(regions_) +
                    ": a philosopher between two borders may deadlock; give each region two "
                    "philosophers at least");
}

void problem::block_for_io() const {
  std::this_thread::sleep_for(std::chrono::nanoseconds(io_ns_));
}

std::int64_t problem::iterations() const {
  std::int64_t sum = 0;
  for (int who = 0; who < philosophers(); ++who) sum += meals_ * (work_of(who) + inside_);
  return sum;
}

std::int64_t problem::meals_eaten() const {
  std::int64_t sum = 0;
  for (const seat& each : seats_) sum += each.eaten.load(std::memory_order_relaxed);
  return sum;
}

void problem::note(int who) {
  const std::uint64_t before = schedule_.load(std::memory_order_relaxed);
  schedule_.store(after_work(before ^ static_cast<std::uint64_t>(who), 1),
                  std::memory_order_relaxed);
}

void problem::leave() {
  const int before = gone_.fetch_add(1, std::memory_order_relaxed);
  if (before == 0) {
    least_at_first_leave_ = meals_;
    for (const seat& each : seats_) {
      least_at_first_leave_ =
          std::min(least_at_first_leave_, each.eaten.load(std::memory_order_relaxed));
    }
  }
  if (before + 1 == philosophers()) last_schedule = schedule_.load(std::memory_order_relaxed);
}

void problem::waited(const waits& done) {
  evaluations_ += done.evaluations;
  count().strand_switches += done.switches;
}

verdict problem::check() const {
  std::int64_t met = 0;
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    met += seats_[i].met_neighbour;
    const auto iterations =
        static_cast<std::uint64_t>(meals_ * (work_of(static_cast<int>(i)) + inside_));
    if (seats_[i].eaten != meals_ || seats_[i].value != after_work(i, iterations)) ++wrong;
  }
  if (met != 0) {
    return {false, "expected: no two neighbours eat at a time; it happened " + std::to_string(met) +
                       " times"};
  }
  if (lost_forks_ != 0) {
    return {false, "expected: no fork is lost; nobody could take " + std::to_string(lost_forks_)};
  }
  if (wrong != 0 || gone_ != philosophers()) {
    return {false, "expected: each of " + std::to_string(philosophers()) + " philosophers has " +
                       std::to_string(meals_) + " meals; " + std::to_string(wrong) +
                       " had other meals or other thoughts, and " + std::to_string(gone_) +
                       " left the table"};
  }
  return {true, "no two neighbours ate at a time, and each had " + std::to_string(meals_) +
                    " meals and thought what it should"};
}

void problem::report(const region& timed, results& out, const rerun& again) const {
  const auto meals = static_cast<double>(all_meals());
  const auto each = [meals](std::uint64_t all) { return static_cast<double>(all) / meals; };
  const counters& counted = timed.counted();
  out.metrics.add("meal_ns", each(timed.wall_ns()))
      .add("meal_cpu_ns", each(timed.cpu_ns()))
      .add("spread",
           static_cast<double>(meals_ + 1) / static_cast<double>(least_at_first_leave_ + 1));
  std::uint64_t thoughts = 0;
  for (const seat& one : seats_) thoughts += one.value;
  out.result = std::to_string(thoughts);
  out.counters.add("meals", all_meals())
      .add("iterations", iterations())
      .add("checkpoints", has_checkpoints_ ? iterations() : 0)
      .add("p_operations_per_meal", each(counted.p_operations))
      .add("blocked_p_operations_per_meal", each(counted.blocked_p_operations))
      .add("moves", moves_)
      .add("strand_switches_per_meal", each(counted.strand_switches))
      .add("vain_evaluations", evaluations_)
      .add("vain_evaluations_per_meal", each(evaluations_));
  if (!keeps_schedule_) return;
  again(values_);
  const std::uint64_t second = last_schedule;
  again(values_);
  const std::set<std::uint64_t> different{schedule_.load(), second, last_schedule};
  out.metrics.add("schedules", static_cast<std::uint64_t>(different.size()));
}

}  // namespace heddle::lab::philosophers
