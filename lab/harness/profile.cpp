#include "harness/profile.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace heddle::lab {
namespace {

// A function has the activity of the first prefix of its plain name. Functions that several
// activities use, as await() and the lists of waiting strands, have none: their caller's is theirs.
struct rule {
  std::string_view part;
  activity is;
};
constexpr rule rules[] = {
    {"heddle::lab::work_loop", activity::work},
    {"heddle::lab::jacobi::problem::relax", activity::work},
    {"heddle::lab::jacobi::::relax_row", activity::work},  // of no named namespace
    {"heddle::coop::checkpoint", activity::checkpoints},
    {"heddle::coop::detail::checkpoint_awaitable", activity::checkpoints},
    {"heddle::coop::detail::slice_", activity::checkpoints},
    {"heddle::lab::timed_slices::checkpoint", activity::checkpoints},
    {"heddle::lab::counted_slices", activity::checkpoints},
    {"heddle::lab::processes::checkpoint", activity::checkpoints},
    {"heddle::lab::group_processes::checkpoint", activity::checkpoints},
    {"heddle::coop::semaphore", activity::semaphores},
    {"heddle::coop::parallel::semaphore", activity::semaphores},
    {"heddle::coop::parallel::detail::remote_wait", activity::semaphores},
    {"heddle::coop::parallel::detail::wait_queue", activity::semaphores},
    {"heddle::coop::parallel::detail::granted_waits", activity::semaphores},
    {"heddle::lab::counted_semaphore", activity::semaphores},
    {"heddle::lab::processes::semaphore", activity::semaphores},
    {"heddle::lab::group_processes::semaphore", activity::semaphores},
    {"heddle::lab::posix_semaphore", activity::semaphores},
    {"heddle::lab::jacobi::semaphore_barrier", activity::semaphores},
    {"sem_", activity::semaphores},
    {"heddle::coop::wait_for", activity::waits},
    {"heddle::coop::wait_until", activity::waits},
    {"heddle::coop::watched", activity::waits},
    {"heddle::coop::scheduler::next_polled", activity::waits},
    {"heddle::lab::waits", activity::waits},
    {"heddle::lab::by_", activity::waits},
    {"heddle::lab::jacobi::shared_barrier", activity::waits},
    {"heddle::coop::detail::yield_awaitable", activity::switches},
    {"heddle::coop::detail::yield_to_awaitable", activity::switches},
    {"heddle::coop::scheduler_access::leave_fiber", activity::switches},
    {"heddle::coop::scheduler_access::give_way", activity::switches},
    {"heddle::coop::scheduler::", activity::switches},
    {"heddle::coop::detail::ready_queue", activity::switches},
    {"heddle::coop::detail::asm_switch", activity::switches},
    {"heddle::coop::detail::fiber::main", activity::switches},
    {"heddle::coop::stackful_context", activity::switches},
    {"heddle::lab::processes::give_way", activity::switches},
    {"heddle::lab::group_processes::give_way", activity::switches},
    {"heddle::lab::waiting_base::yield", activity::switches},
    {"heddle::coop::parallel::group::", activity::switches},
};
// The same by files, for a function whose name lacks its namespaces.
constexpr rule files[] = {
    {"/lab/harness/waiting.hpp:", activity::waits},
    {"/lab/harness/waits.hpp:", activity::waits},
    {"/heddle/coop/wait_for.hpp:", activity::waits},
    {"/heddle/coop/yield.hpp:", activity::switches},
};
// Whatever is called meanwhile.
constexpr std::string_view busy_waits[] = {"heddle::coop::parallel::group::spin_for",
                                           "heddle::coop::parallel::group::rest"};
// Templates whose argument says which activity they belong to.
constexpr std::string_view by_argument[] = {"heddle::coop::await",
                                            "heddle::coop::detail::awaitable"};

activity find(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(rules), std::end(rules),
                   [name](const rule& each) { return name.starts_with(each.part); });
  return found != std::end(rules) ? found->is : activity::other;
}

activity activity_of(const code_frame& frame) {
  const std::string name = plain_name(frame.function);
  for (const std::string_view outer : by_argument) {
    const std::size_t at = frame.function.find(std::string(outer) + '<');
    if (!name.starts_with(outer) || at == frame.function.npos) continue;
    return find(std::string_view(frame.function).substr(at + outer.size() + 1));
  }
  if (const activity found = find(name); found != activity::other) return found;
  if (name.find("::") != name.npos) return activity::other;
  for (const rule& each : files) {
    if (frame.file.find(each.part) != frame.file.npos) return each.is;
  }
  return activity::other;
}

bool is_busy_wait(const code_frame& frame) {
  const std::string name = plain_name(frame.function);
  return std::any_of(std::begin(busy_waits), std::end(busy_waits),
                     [&name](std::string_view each) { return name.starts_with(each); });
}

}  // namespace

activity activity_at(const code_place& place) {
  if (std::any_of(place.begin(), place.end(), &is_busy_wait)) return activity::waits;
  bool own = false;
  for (const code_frame& frame : place) {
    const activity found = activity_of(frame);
    if (found != activity::other) return found;
    own = own || frame.file.find("/lab/workloads/") != frame.file.npos;
  }
  return own ? activity::program : activity::other;
}

profile::profile(const samples& taken) : all_(taken.count()) {
  if (taken.lost != 0) {
    throw std::runtime_error("after " + std::to_string(all_) +
                             " samples there was no room for more: --profile-us= a longer period");
  }
  if (all_ == 0) {
    throw std::runtime_error("the run was over before the first sample: give it more to do");
  }
  std::vector<std::uintptr_t> addresses;
  for (const auto& [address, count] : taken.at) addresses.push_back(address);
  const auto places = places_of(addresses);
  for (const auto& [address, count] : taken.at) {
    samples_[static_cast<std::size_t>(activity_at(places.at(address)))] += count;
  }
  samples_[static_cast<std::size_t>(activity::kernel)] += taken.in_kernel;
}

void profile::report(std::uint64_t cpu_ns, results& out) const {
  const auto all = static_cast<double>(all_);
  const auto time = static_cast<double>(cpu_ns);
  out.counters.add("profile_samples", all_);
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const double share = static_cast<double>(samples_[i]) / all;
    const std::string name(activity_names[i]);
    out.counters.add("percent_in_" + name, 100 * share);
    out.metrics.add("percent_besides_" + name, 100 * (1 - share))
        .add("in_" + name + "_ns", share * time)
        .add("besides_" + name + "_ns", (1 - share) * time);
  }
}

}  // namespace heddle::lab
