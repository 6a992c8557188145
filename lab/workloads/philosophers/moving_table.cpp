#include "workloads/philosophers/moving_table.hpp"

#include <stdexcept>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/parallel/move_to.hpp"
#include "heddle/coop/wait_for.hpp"
#include "heddle/coop/yield.hpp"

namespace heddle::lab::philosophers {

using coop::await;

moving_table::moving_table(problem& work, coop::parallel::groups& among, policy wants_to_move)
    : work_(work),
      groups_(among),
      wants_to_move_(std::move(wants_to_move)),
      forks_(static_cast<std::size_t>(work.philosophers())),
      seats_(static_cast<std::size_t>(work.philosophers())),
      regions_(2) {
  work.require_regions();
  if (work.regions() != 2) throw usage_error("--regions: philosophers move between two of them");
  for (int who = 0; who < work.philosophers(); ++who) {
    seat& own = seat_of(who);
    own.region = work.region_of(who);
    own.work_left = work.meals() * work.work_of_meal(who);
    ++region_at(own.region).philosophers;
    add(region_at(own.region), own.work_left);
    if (work.is_border(work.left(who))) {
      left(who).border.V();
    } else {
      left(who).region = own.region;
    }
  }
}

void moving_table::dine(int who) {
  for (std::int64_t meal = 0; meal < work_.meals(); ++meal) {
    work_.think(who, no_checkpoint);
    if (work_.yields_outside()) give_way(who);
    take_both(who);
    if (is_to_move(who)) move(who);
    work_.begin_eating(who);
    work_.chew(who, no_checkpoint);
    for (int i = 0; i < work_.cooperative_yields_inside(); ++i) give_way(who);
    work_.end_eating(who);
    put_back(who);
    seat_of(who).work_left -= work_.work_of_meal(who);
    add(region_at(seat_of(who).region), -work_.work_of_meal(who));
  }
  work_.leave();
}

void moving_table::give_way(int who) {
  ++region_at(seat_of(who).region).done.switches;
  await(coop::yield());
}

// A border fork first, as without moves: its owner waits only for a neighbour who eats. After
// each wait the forks' kinds may be others.
void moving_table::take_both(int who) {
  seat& own = seat_of(who);
  fork& one = left(who);
  fork& other = right(who);
  for (;;) {
    fork* const border = one.is_border() ? &one : other.is_border() ? &other : nullptr;
    if (border == &one && other.is_border()) {
      throw std::logic_error("a philosopher is between two borders");
    }
    if (border != nullptr) {
      own.waits_at = border;
      await(border->border.P());
      own.waits_at = nullptr;
      if (std::exchange(own.has_void_permit, false)) continue;
    }
    const auto changed = [&](const fork& each) { return each.is_border() && &each != border; };
    const auto is_there = [&](const fork& each) { return &each == border || each.lies_there; };
    waits& done = region_at(own.region).done;
    const std::uint64_t before = done.evaluations;
    await(coop::wait_for(done.counting(
        [&] { return changed(one) || changed(other) || (is_there(one) && is_there(other)); })));
    if (done.evaluations != before) ++done.switches;
    if (changed(one) || changed(other)) {
      if (border != nullptr) border->border.V();
      continue;
    }
    for (fork* const each : {&one, &other}) {
      if (each != border) each->lies_there = false;
    }
    return;
  }
}

void moving_table::put_back(int who) {
  for (fork* const each : {&left(who), &right(who)}) {
    if (each->is_border()) {
      each->border.V();
    } else {
      each->lies_there = true;
    }
  }
}

bool moving_table::is_to_move(int who) {
  const seat& own = seat_of(who);
  if (left(who).is_border() == right(who).is_border()) return false;
  if (region_at(own.region).philosophers < 3) return false;
  if (wants_to_move_) return wants_to_move_(who);
  const std::int64_t more = region_at(own.region).work_left.load(std::memory_order_relaxed) -
                            region_at(1 - own.region).work_left.load(std::memory_order_relaxed);
  return more > 2 * own.work_left;
}

void moving_table::move(int who) {
  seat& own = seat_of(who);
  const int from = own.region;
  const int to = 1 - from;
  const bool to_the_left = left(who).is_border();
  fork& behind = to_the_left ? right(who) : left(who);
  fork& ahead = to_the_left ? left(who) : right(who);
  const int all = work_.philosophers();
  const int new_neighbour = (to_the_left ? who + all - 1 : who + 1) % all;

  behind.region = between;  // and taken: its semaphore has no permit
  --region_at(from).philosophers;
  add(region_at(from), -own.work_left);
  await(coop::parallel::move_to(groups_[static_cast<std::size_t>(to)]));
  ahead.region = to;
  ahead.lies_there = false;
  seat& met = seat_of(new_neighbour);
  if (met.waits_at == &ahead && !std::exchange(met.has_void_permit, true)) ahead.border.V();
  own.region = to;
  ++region_at(to).philosophers;
  ++region_at(to).moves;
  add(region_at(to), own.work_left);
}

// Others read it, and only its own group writes it.
void moving_table::add(region_state& to, std::int64_t work) {
  to.work_left.store(to.work_left.load(std::memory_order_relaxed) + work,
                     std::memory_order_relaxed);
}

std::int64_t moving_table::moves() const {
  std::int64_t sum = 0;
  for (const region_state& each : regions_) sum += each.moves;
  return sum;
}

int moving_table::lost_forks() {
  int lost = 0;
  for (fork& each : forks_) {
    const bool has_permit = each.border.try_P();
    const bool has_more = each.border.try_P();
    const bool is_lost = each.is_border() ? !has_permit : !each.lies_there || has_permit;
    if (is_lost || has_more) ++lost;
  }
  return lost;
}

void moving_table::add_waits() const {
  for (const region_state& each : regions_) work_.waited(each.done);
}

}  // namespace heddle::lab::philosophers
