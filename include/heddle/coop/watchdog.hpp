#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "heddle/coop/detail/timer_queue.hpp"
#include "heddle/coop/scheduler.hpp"

namespace heddle::coop {

/// A strand that has not given way for a while, so that the others could not run.
struct held_up {
  std::uint64_t strand;  // its number, as in scheduler::dump()
  std::string name;      // its first 47 bytes
  duration so_far;
};

/// Says which strand of a scheduler has run for longer than a limit without a wait or a yield: one
/// that blocks, or computes. It is said once for each such turn, while it lasts, on a thread of the
/// watchdog's own: by `report`, or on stderr,
///
///     warning: heddle: strand 3 "parser" has not given way for 112 ms …
///
/// A look every eighth of the limit tells turns apart, so that none is named too early; time is the
/// steady clock's. A scheduler that has one looks at its timers and events each turn, which costs
/// some tens of nanoseconds; one that has none pays a branch every 64 turns.
///
///     scheduler s;
///     const watchdog barks(s);
class watchdog {
 public:
  using reporter = std::function<void(const held_up&)>;

  /// On the thread of the scheduler, which outlives it. Throws std::invalid_argument if `limit` is
  /// not positive, std::logic_error if the scheduler has one already, std::system_error if there is
  /// no thread.
  explicit watchdog(scheduler& watched, detail::length limit = std::chrono::milliseconds(100),
                    reporter report = {});
  ~watchdog();
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace heddle::coop
