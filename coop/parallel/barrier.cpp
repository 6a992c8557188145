#include "heddle/coop/parallel/barrier.hpp"

#include <stdexcept>
#include <utility>

#include "heddle/coop/context/context.hpp"

namespace heddle::coop::parallel {

namespace {

constexpr std::uint64_t one_phase = std::uint64_t{1} << 32;

constexpr std::uint64_t missing(std::uint64_t state) { return state % one_phase; }
constexpr std::uint64_t phase(std::uint64_t state) { return state / one_phase; }

}  // namespace

/// One group's part of the barrier. Only the group's own strands access it, and its message, which
/// is posted once a phase: the group cannot end the next phase before the message was delivered.
///
/// Invariant: `arrived` strands wait in the list; if that is all, the group is counted in state_.
struct alignas(detail::line_bytes) barrier::cell : coop::detail::wait_list, message {
  barrier& at;
  group& owner;
  const std::size_t strands;
  std::size_t arrived = 0;
  std::uint64_t counted_in = 0;  // the phase in which the group was counted, if all have arrived

  cell(barrier& its_barrier, group& its_group, std::size_t its_strands) noexcept
      : wait_list("barrier", its_barrier.name_, &barrier::given_up),
        message(&barrier::deliver),
        at(its_barrier),
        owner(its_group),
        strands(its_strands) {}

  void wake_all() {
    arrived = 0;
    while (!empty()) {
      coop::detail::count_as_granted(*first()->who);
      scheduler_access::wake(*first());
    }
  }
};

barrier::barrier(groups& among, std::size_t strands_in_each, std::string name)
    : barrier(among, std::vector<std::size_t>(among.size(), strands_in_each), std::move(name)) {}

barrier::barrier(groups& among, const std::vector<std::size_t>& strands, std::string name)
    : name_(std::move(name)) {
  if (strands.size() > among.size()) {
    throw std::invalid_argument("a barrier for " + std::to_string(strands.size()) +
                                " groups, of which there are " + std::to_string(among.size()));
  }
  for (std::size_t i = 0; i < strands.size(); ++i) {
    cells_.push_back(std::make_unique<cell>(*this, among[i], strands[i]));
    if (strands[i] != 0) ++taking_part_;
  }
  if (taking_part_ == 0) throw std::invalid_argument("a barrier at which no strand arrives");
  state_.store(taking_part_, std::memory_order_relaxed);
}

barrier::~barrier() { coop::detail::end_strands_left(); }

barrier::cell& barrier::own_cell() {
  const group* const here = group::current();
  if (here != nullptr && here->index() < cells_.size()) {
    cell& own = *cells_[here->index()];
    if (&own.owner == here && own.strands != 0) return own;
  }
  coop::detail::fatal("a strand arrives at a parallel::barrier in which its group takes no part");
}

// Whether that was the last strand of all.
bool barrier::arrive() {
  cell& own = own_cell();
  if (own.empty()) own.arrived = 0;  // those that waited may have been destroyed
  if (own.arrived + 1 < own.strands) return false;
  // Acquire and release: the last strand sees the writes of all others, and passes them on.
  const std::uint64_t before = state_.fetch_sub(1, std::memory_order_acq_rel);
  if (missing(before) != 1) {
    own.counted_in = phase(before);
    return false;
  }
  state_.store((phase(before) + 1) * one_phase + taking_part_, std::memory_order_release);
  own.wake_all();
  for (const auto& each : cells_) {
    if (each.get() != &own && each->strands != 0) each->owner.post(*each);
  }
  return true;
}

void barrier::park(coop::detail::strand_block& self, coop::detail::wait_node& node) noexcept {
  cell& own = own_cell();
  ++own.arrived;
  coop::detail::wait_in(self, node, own);
}

void barrier::deliver(message& self, coop::scheduler* to) noexcept {
  if (to != nullptr) static_cast<cell&>(self).wake_all();
}

// Takes the arrival back, if all have not arrived yet.
bool barrier::given_up(coop::detail::wait_list& list, coop::detail::wait_node& node) {
  cell& own = static_cast<cell&>(list);
  if (own.arrived == own.strands) {
    std::uint64_t state = own.at.state_.load(std::memory_order_relaxed);
    do {
      // None missing: the last one is about to begin the next phase.
      if (phase(state) != own.counted_in || missing(state) == 0) {
        // The message is under way: the wait ends by it.
        coop::detail::wait_in(*node.who, node, list);
        return true;
      }
    } while (!own.at.state_.compare_exchange_weak(state, state + 1, std::memory_order_relaxed));
  }
  --own.arrived;
  return false;
}

}  // namespace heddle::coop::parallel
