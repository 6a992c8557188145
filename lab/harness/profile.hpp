#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "harness/code_places.hpp"
#include "harness/model.hpp"
#include "harness/sampler.hpp"

namespace heddle::lab {

/// The activities between which a profile divides processor time.
enum class activity : std::uint8_t {
  work,         ///< between synchronisations: work_loop()
  program,      ///< the rest of the workload's code, with what its oracle needs
  checkpoints,  ///< under CP: whether the slice is over
  semaphores,   ///< P and V, with the queues of those that wait
  waits,        ///< conditions on shared variables, and busy waiting
  switches,     ///< the ready queue, the choice of the next strand, the switch to it
  kernel,       ///< all of its time: kernel threads wait and switch there
  other,        ///< libraries, and their part of a kernel thread's P and V
};
inline constexpr std::array<std::string_view, 8> activity_names{
    "work", "program", "checkpoints", "semaphores", "waits", "switches", "kernel", "other"};

/// The activity that code in the program at this place belongs to: that of the innermost function
/// that has one.
[[nodiscard]] activity activity_at(const code_place& place);

/// Where the processor time of a run went, by samples of the program counter.
class profile {
 public:
  /// Throws as places_of() does, and std::runtime_error where samples were lost or there are none.
  explicit profile(const samples& taken);

  [[nodiscard]] std::uint64_t samples_in(activity which) const {
    return samples_[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] std::uint64_t all_samples() const { return all_; }

  /// Adds `profile_samples`, and for each activity its share, `percent_in_…`, that share of
  /// `cpu_ns`, `in_…_ns`, and the same of all the others together, `percent_besides_…` and
  /// `besides_…_ns`, for comparisons that take numbers above 0.
  void report(std::uint64_t cpu_ns, results& out) const;

 private:
  std::array<std::uint64_t, activity_names.size()> samples_{};
  std::uint64_t all_ = 0;
};

}  // namespace heddle::lab
