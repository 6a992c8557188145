#include "heddle/coop/parallel/group.hpp"

#include <algorithm>
#include <chrono>

#include "core/futex.hpp"
#include "team.hpp"

namespace heddle::coop::parallel {

using detail::rest_state;

namespace {

// Longest uninterrupted wait in a reactor without interrupt().
constexpr duration slice = std::chrono::microseconds(50);

constexpr std::uint32_t messages_between_returns = 1024;

/// Brings a strand that the balancer has chosen.
struct transfer final : message, coop::detail::strand_carrier {
  coop::detail::strand_block& strand;
  group& to;

  transfer(coop::detail::strand_block& chosen, group& its_new) noexcept
      : message(&deliver_it), strand(chosen), to(its_new) {}
  void post() noexcept override { to.post(*this); }
  static void deliver_it(message& self, coop::scheduler* to) noexcept {
    auto& mine = static_cast<transfer&>(self);
    if (to != nullptr) scheduler_access::arrive(*to, mine.strand);
    coop::detail::frame_pool::release(&mine, sizeof(transfer));
  }
};

}  // namespace

// Only groups of the same team are checked: a strand may use the schedulers of groups that it made
// itself.
void group::asked_from(const group& other) const noexcept {
  if (&team_ != &other.team_) return;
  const std::string text = "a strand of group " + std::to_string(other.index()) +
                           " asks for the scheduler of group " + std::to_string(index()) +
                           ", which only that group's strands may use; use group::spawn()";
  coop::detail::fatal(text.c_str());
}

group::~group() {
  for (message* each = inbox_.take_all(); each != nullptr;) {
    message& undelivered = *each;
    each = each->next;
    undelivered.deliver(undelivered, nullptr);
  }
}

void group::open(const scheduler_options& options) {
  scheduler_.emplace(options);
  scheduler_access::join_group(*scheduler_, *this);
}

void group::close() noexcept {
  receive();  // grants that are under way to strands that are to be destroyed
  scheduler_.reset();
}

void group::destroy_strands() noexcept { scheduler_access::destroy_strands(*scheduler_); }

std::exception_ptr group::run() { return scheduler_access::run(*scheduler_); }

bool group::receive() noexcept {
  message* each = inbox_.take_all();
  if (each == nullptr) return false;
  // It is delivered outside of any strand: a fiber may be giving way just now.
  coop::detail::strand_block* const leaving = std::exchange(coop::detail::current_strand, nullptr);
  do {
    message& posted = *each;
    each = each->next;  // before it may be posted again
    posted.deliver(posted, &*scheduler_);
    ++received_;
  } while (each != nullptr);
  coop::detail::current_strand = leaving;
  // Memory that comes from other groups is usually freed here: messages that spawn, strands that
  // move.
  if (received_ >= messages_between_returns) {
    received_ = 0;
    coop::detail::frame_pool::return_surplus();
  }
  return true;
}

void group::wake() noexcept {
  rest_state seen = rest_.load(std::memory_order_seq_cst);
  for (;;) {
    switch (seen) {
      case rest_state::awake:
      case rest_state::interrupting:
        return;
      case rest_state::asleep:
        if (!rest_.compare_exchange_weak(seen, rest_state::awake, std::memory_order_seq_cst)) break;
        coop::detail::futex_wake(rest_);
        return;
      case rest_state::passive:
        // Counted before it can be passive again: else the count could be 0 while we run.
        team_.activate();
        if (!rest_.compare_exchange_strong(seen, rest_state::awake, std::memory_order_seq_cst)) {
          team_.deactivate();
          break;
        }
        coop::detail::futex_wake(rest_);
        return;
      case rest_state::in_reactor:
        if (!rest_.compare_exchange_weak(seen, rest_state::interrupting,
                                         std::memory_order_seq_cst)) {
          break;
        }
        scheduler_access::attached_reactor(*scheduler_)->interrupt();
        rest_.store(rest_state::awake, std::memory_order_release);
        return;
    }
  }
}

bool group::may_spin() noexcept {
  coop::scheduler& own = *scheduler_;
  if (set_.spin_ticks == 0 || !scheduler_access::is_idle(own)) return false;
  // It stands for a switch: so timers are looked at also where all waits are short.
  if (scheduler_access::count_turn(own)) return true;
  if (!inbox_.empty() || scheduler_access::announces(own)) return false;
  if (scheduler_access::has_due_timer(own)) return false;
  scheduler_access::set_turns(own, turns_to_run());
  return true;
}

bool group::rest(std::optional<time_point> until, reactor* events) noexcept {
  if (team_.over()) return false;
  if (set_.balances) load_.store(0, std::memory_order_relaxed);
  // With events there may be thousands of such rests a second, each ended by one of them.
  const bool spun = (events == nullptr || expects_messages_) && rest_spinning(until);
  if (spun) {
    // There is something to do.
  } else if (events != nullptr) {
    rest_in_reactor(until, *events);
  } else if (until) {
    rest_asleep(*until);
  } else {
    rest_passive();
  }
  expects_messages_ = receive();
  looked_at_ = ticks();
  return until || events != nullptr || expects_messages_ || !team_.over();
}

// Returns whether there is something to do.
bool group::rest_spinning(std::optional<time_point> until) noexcept {
  if (set_.spin_ticks == 0) return false;
  for (const std::uint64_t begin = ticks();;) {
    for (int i = 0; i < spins_between_looks; ++i) {
      if (!inbox_.empty()) return true;
      detail::pause();
    }
    if (team_.over() || (until && std::chrono::steady_clock::now() >= *until)) return true;
    if (ticks() - begin > set_.spin_ticks) return false;
  }
}

void group::rest_in_reactor(std::optional<time_point> until, reactor& events) noexcept {
  rest_.store(rest_state::in_reactor, std::memory_order_seq_cst);
  if (inbox_.empty_in_order() && !team_.over()) {
    if (!events.interruptible()) {
      const time_point soon = std::chrono::steady_clock::now() + slice;
      until = std::min(until.value_or(soon), soon);
    }
    events.wait(until);
  }
  rest_state seen = rest_state::in_reactor;
  if (rest_.compare_exchange_strong(seen, rest_state::awake, std::memory_order_seq_cst)) return;
  // Not before interrupt() has returned: the reactor may be gone then.
  while (rest_.load(std::memory_order_acquire) != rest_state::awake) sched_yield();
}

void group::rest_asleep(time_point until) noexcept {
  rest_.store(rest_state::asleep, std::memory_order_seq_cst);
  if (inbox_.empty_in_order() && !team_.over()) {
    coop::detail::futex_wait(rest_, rest_state::asleep, until);
  }
  rest_.store(rest_state::awake, std::memory_order_relaxed);
}

void group::rest_passive() noexcept {
  team_.note_alive(*this);
  rest_.store(rest_state::passive, std::memory_order_seq_cst);
  if (!inbox_.empty_in_order() || team_.over()) {
    rest_state seen = rest_state::passive;
    if (rest_.compare_exchange_strong(seen, rest_state::awake, std::memory_order_seq_cst)) return;
    team_.deactivate();  // the thread that woke us has counted us a second time
    return;
  }
  team_.deactivate();  // the thread that wakes us counts us again
  while (rest_.load(std::memory_order_acquire) == rest_state::passive) {
    coop::detail::futex_wait(rest_, rest_state::passive, std::nullopt);
  }
}

std::uint32_t group::look() noexcept {
  if (!inbox_.empty()) receive();
  if (set_.balances) balance();
  return turns_to_run();
}

// A strand at a time, to the neighbour that has less to do: the paper's border strands, which are
// marked as movable. They leave from the ready queue, that is at a yield.
void group::balance() noexcept {
  constexpr std::size_t surplus = 4;       // not worth a move
  constexpr std::uint64_t looked_at = 64;  // strands, at most
  coop::scheduler& own = *scheduler_;
  const coop::detail::ready_queue& ready = scheduler_access::ready_queue(own);
  const std::size_t mine = ready.size_bound();
  load_.store(mine, std::memory_order_relaxed);
  group& left = team_[(index() + team_.size() - 1) % team_.size()];
  group& right = team_[(index() + 1) % team_.size()];
  group& least =
      left.load_.load(std::memory_order_relaxed) < right.load_.load(std::memory_order_relaxed)
          ? left
          : right;
  if (mine < 2 * least.load_.load(std::memory_order_relaxed) + surplus || &least == this) return;
  coop::detail::strand_block* const chosen =
      ready.find_newest(looked_at, [](const coop::detail::strand_block& each) {
        // The one that gives way just now still stands on its stack.
        return each.rare != nullptr && each.rare->movable &&
               each.status != coop::detail::strand_status::polling &&
               &each != coop::detail::current_strand && scheduler_access::can_move(each);
      });
  if (chosen == nullptr) return;
  ++given_away_;
  // Until it says so itself: else we would give it all that we have before it looks.
  least.load_.fetch_add(1, std::memory_order_relaxed);
  void* const memory = coop::detail::frame_pool::allocate(sizeof(transfer));
  scheduler_access::send(*chosen, *new (memory) transfer(*chosen, least));
}

// A look costs what it takes to read the clock, which is little in 64 turns; where turns are long,
// they are fewer, so that messages wait for some microseconds only.
std::uint32_t group::turns_to_run() noexcept {
  const std::uint64_t now = ticks();
  const std::uint64_t passed = now - std::exchange(looked_at_, now);
  if (passed > set_.look_ticks) {
    turns_ = std::max(turns_ / 2, std::uint32_t{1});
  } else if (passed < set_.look_ticks / 4) {
    turns_ = std::min(turns_ * 2, coop::detail::turns_between_timers);
  }
  return turns_;
}

}  // namespace heddle::coop::parallel
