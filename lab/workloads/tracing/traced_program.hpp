#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "workloads/tracing/command.hpp"

namespace heddle::lab::tracing {

/// One of the programs in lab/traced, each built in several ways: `plain`, `functions`, `fentry`,
/// `pg`.
class traced_program {
 public:
  /// The figures that the program prints of a run.
  struct outcome {
    std::uint64_t cpu_ns = 0;   ///< processor time of its threads
    std::uint64_t wall_ns = 0;  ///< from the first start to the last end
    std::uint64_t result = 0;
  };
  /// Number of calls of a build's hooks.
  struct calls {
    std::uint64_t enters = 0;
    std::uint64_t exits = 0;
    [[nodiscard]] std::uint64_t events() const { return enters + exits; }
  };

  traced_program(std::string name, std::int64_t threads)
      : name_(std::move(name)), threads_(threads) {}

  /// Makes it so long that the hooks of this build are called `events` times, roughly, but that it
  /// takes no longer than `longest_ns` without hooks; at least one round.
  void last_for(std::string_view build, std::int64_t events, std::int64_t longest_ns,
                const scratch& place);

  /// Runs a build, with words in front of the command.
  [[nodiscard]] outcome run(std::string_view build, command prefix = {}) const;
  /// Runs a build with hooks that do nothing but count.
  [[nodiscard]] calls count(std::string_view build, const scratch& place) const;

 private:
  std::string name_;
  std::int64_t threads_;
  std::int64_t rounds_ = 1;
};

}  // namespace heddle::lab::tracing
