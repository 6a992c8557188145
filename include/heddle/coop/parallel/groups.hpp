#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "heddle/coop/parallel/group.hpp"
#include "heddle/coop/scheduler.hpp"

namespace heddle::coop::parallel {

struct groups_options {
  /// Number of groups; 0: one for each processor that the process may use. More than there are
  /// processors is allowed: see groups::oversubscribed().
  std::size_t count = 0;
  /// Whether each group's thread stays on one processor: the first groups on different cores, then
  /// on their siblings, as far as the process's affinity mask goes.
  bool pin = true;
  /// Time for which a group that has nothing to run polls its inbox before it sleeps; the default
  /// is about the cost of falling asleep and being woken. Groups that are oversubscribed do not
  /// poll.
  duration spin = std::chrono::microseconds(30);
  /// Whether threads that belong to none of the groups post to them while they run (a V, a spawn).
  /// If so, all strands waiting is no deadlock.
  bool outside_posts = false;
  /// Whether a group that has many strands ready gives such as are movable() to a neighbour that
  /// has few: see balance.hpp.
  bool balance = false;
  /// The options of each group's scheduler. The clock must be real. With a random_seed, group i has
  /// that + i.
  scheduler_options each = {};
};

/// Parallel cooperative multithreading (PCM): groups of strands, a kernel thread and a processor
/// each; in a group one strand runs at a time, so that only what groups share needs synchronisation
/// (the paper: "at most one in each process within a group of processes").
///
///     parallel::groups g({.count = 2});
///     parallel::semaphore ready(0);
///     g[0].spawn([&] { produce(); ready.V(); }, "producer");              // a fiber
///     g[1].spawn([&]() -> task<> { co_await ready.P(); consume(); });     // a task
///     g.run();
///
/// The order of strands is deterministic inside a group as far as what comes from others is.
/// Belongs to the thread that made it.
class groups {
 public:
  /// Throws std::invalid_argument (options), std::system_error (a thread or its affinity cannot be
  /// had).
  explicit groups(groups_options options = {});
  /// Strands that have not ended are destroyed as by ~scheduler(), the last group's first, each on
  /// its group's thread.
  ~groups();
  groups(const groups&) = delete;
  groups& operator=(const groups&) = delete;

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] group& operator[](std::size_t index) noexcept;

  /// Runs all groups until every strand of every group has ended. May be called again after more
  /// were spawned; not from a strand. Throws `deadlock`, which names every strand with its group,
  /// when no strand can ever run again (see also outside_posts); the exception of a strand to which
  /// no handle refers, the lowest group's first; std::system_error if there is no room for a stack:
  /// then what is ready in other groups still runs until it waits.
  void run();

  /// Whether several groups share a processor. Then they do not spin, and hand-overs between them
  /// cost what they cost between kernel threads.
  [[nodiscard]] bool oversubscribed() const noexcept;

  /// One line for each strand that has not ended, below its group; while they do not run.
  [[nodiscard]] std::string dump() const;

 private:
  std::unique_ptr<detail::team> team_;
};

}  // namespace heddle::coop::parallel
