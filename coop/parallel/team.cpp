#include "team.hpp"

#include <stdexcept>
#include <utility>

#include "topology.hpp"

namespace heddle::coop::parallel {

namespace detail {
namespace {

constexpr duration between_looks = std::chrono::microseconds(5);

}  // namespace

std::uint64_t ticks_in(duration length) {
  static const double per_ns = [] {
    using clock = std::chrono::steady_clock;
    constexpr auto measured = std::chrono::microseconds(200);
    const auto begin = clock::now();
    const std::uint64_t first = group::ticks();
    auto now = begin;
    while (now - begin < measured) now = clock::now();
    const std::uint64_t last = group::ticks();
    const auto passed = std::chrono::duration_cast<duration>(now - begin);
    return static_cast<double>(last - first) / static_cast<double>(passed.count());
  }();
  return static_cast<std::uint64_t>(static_cast<double>(length.count()) * per_ns);
}

team::team(const groups_options& options) : outside_posts_(options.outside_posts) {
  if (options.each.clock != clock_policy::real) {
    throw std::invalid_argument(
        "groups run on the real clock: virtual time has no meaning on several processors at once");
  }
  if (options.spin < duration::zero()) {
    throw std::invalid_argument("groups_options::spin is negative");
  }
  const std::vector<int> processors = processors_by_core();
  const std::size_t count = options.count != 0 ? options.count : processors.size();
  oversubscribed_ = count > processors.size();
  const std::uint64_t spin = oversubscribed_ ? 0 : ticks_in(options.spin);
  try {
    for (std::size_t i = 0; i < count; ++i) {
      const group::settings set = {options.pin ? processors[i % processors.size()] : -1, spin,
                                   ticks_in(between_looks), options.balance};
      members_.push_back(std::make_unique<member>(*this, i, set));
      scheduler_options own = options.each;
      if (own.random_seed) *own.random_seed += i;
      start(*members_.back(), own);
    }
  } catch (...) {
    quit();
    throw;
  }
}

team::~team() {
  left_.forget();
  quit();
}

void team::start(member& which, const scheduler_options& options) {
  which.asked = command::run;  // which is: to be ready
  which.thread = std::thread(&team::serve, this, std::ref(which), options);
  wait_for(which);
  if (which.failed) std::rethrow_exception(std::exchange(which.failed, nullptr));
}

// The main function of a group's thread.
void team::serve(member& which, scheduler_options options) {
  try {
    if (which.self.processor() >= 0) pin_this_thread(which.self.processor());
    which.self.open(options);  // here: a scheduler belongs to the thread that makes it
  } catch (...) {
    which.failed = std::current_exception();
  }
  for (std::unique_lock lock(mutex_);;) {
    which.asked = command::none;
    commanded_.notify_all();
    commanded_.wait(lock, [&] { return which.asked != command::none; });
    if (which.asked == command::quit) break;
    const bool runs = which.asked == command::run;
    lock.unlock();
    if (runs) {
      run_group(which);
    } else {
      which.self.destroy_strands();
    }
    lock.lock();
  }
  which.self.close();
}

void team::run_group(member& which) noexcept {
  try {
    which.failed = which.self.run();
  } catch (...) {
    which.failed = std::current_exception();
    end_run();
  }
}

void team::ask(member& which, command what) {
  const std::lock_guard lock(mutex_);
  which.asked = what;
  commanded_.notify_all();
}

void team::wait_for(const member& which) {
  std::unique_lock lock(mutex_);
  commanded_.wait(lock, [&] { return which.asked == command::none; });
}

// All are there until the last one has ended: destructors of its strands may post to any.
void team::quit() noexcept {
  for (std::size_t i = members_.size(); i-- > 0;) {
    member& last = *members_[i];
    if (!last.thread.joinable()) continue;
    ask(last, command::quit);
    last.thread.join();
  }
  members_.clear();
}

// Groups are asked in the order in which quit() ends them.
void team::destroy_strands() noexcept {
  for (std::size_t i = members_.size(); i-- > 0;) {
    ask(*members_[i], command::destroy_strands);
    wait_for(*members_[i]);
  }
}

void team::run() {
  left_.forget();
  active_.store(size(), std::memory_order_relaxed);
  over_.store(false, std::memory_order_relaxed);
  for (const auto& each : members_) ask(*each, command::run);
  for (const auto& each : members_) wait_for(*each);
  std::exception_ptr failed;
  std::size_t left = 0;
  for (const auto& each : members_) {
    if (!failed) failed = each->failed;
    each->failed = nullptr;
    left += each->self.scheduler().alive();
  }
  if (left != 0) left_.note();
  if (failed) std::rethrow_exception(failed);
  if (left != 0) {
    throw deadlock("deadlock: nothing can run any more, but " + std::to_string(left) +
                   (left == 1 ? " strand has" : " strands have") + " not ended\n" + dump());
  }
}

void team::deactivate() noexcept {
  // Release and acquire: the last one sees what the others have noted.
  if (active_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (outside_posts_ && alive() != 0) return;
  end_run();
}

void team::end_run() noexcept {
  if (over_.exchange(true, std::memory_order_seq_cst)) return;
  for (const auto& each : members_) each->self.wake();
}

void team::note_alive(group& which) noexcept {
  members_[which.index()]->alive.store(which.scheduler().alive(), std::memory_order_relaxed);
}

std::size_t team::alive() noexcept {
  std::size_t sum = 0;
  for (const auto& each : members_) sum += each->alive.load(std::memory_order_relaxed);
  return sum;
}

std::string team::dump() {
  std::string text;
  for (const auto& each : members_) {
    group& which = each->self;
    if (which.scheduler().alive() == 0) continue;
    text += "  group " + std::to_string(which.index());
    if (which.processor() >= 0) text += " on processor " + std::to_string(which.processor());
    text += '\n' + which.scheduler().dump();
  }
  return text;
}

}  // namespace detail

groups::groups(groups_options options) : team_(std::make_unique<detail::team>(options)) {}
groups::~groups() = default;
std::size_t groups::size() const noexcept { return team_->size(); }
group& groups::operator[](std::size_t index) noexcept { return (*team_)[index]; }
void groups::run() {
  if (coop::detail::current_strand != nullptr) {
    coop::detail::fatal("groups::run() is called from a strand; spawn there, and wait");
  }
  team_->run();
}
bool groups::oversubscribed() const noexcept { return team_->oversubscribed(); }
std::string groups::dump() const { return team_->dump(); }

}  // namespace heddle::coop::parallel
