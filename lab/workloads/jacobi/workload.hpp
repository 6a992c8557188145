#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/model.hpp"
#include "workloads/jacobi/grid.hpp"

namespace heddle::lab::jacobi {

/// The ways in which strands wait for each other at the end of an iteration.
enum class meeting : std::uint8_t {
  paper,    ///< as the source: P and V; cooperative strands yield until all have come
  waitfor,  ///< cooperative: wait_for(), asked by the scheduler at each turn
  watched,  ///< cooperative: wait_until(), asked when the variable changes
  library,  ///< what the model's library calls a barrier
};

/// Jacobi iteration for Laplace's equation on a square, as the Euro-Par paper's JI: in each
/// iteration every interior point becomes the mean of its four neighbours of the iteration before,
/// until no point changes by more than `epsilon`. The rows are divided into strips, one a strand;
/// after each iteration all strands meet at a barrier, and each learns whether it was the last.
///
/// The boundary is that of x² − y², and the interior begins at `initial`. A point's value depends
/// on the iteration before alone, so all models compute the same bits in the same number of
/// iterations.
///
/// - serial: one flow of control, no barrier.
/// - concurrent, thread, goroutine: CP. A mutex semaphore round the count of those who have come,
///   a semaphore on which they wait. concurrent/groups: on as many processors as there are groups,
///   by turns; concurrent/groups-placed: as parallel's strands are.
/// - cooperative: CM. The count is a shared variable, "busy waiting on shared variables with
///   yields".
/// - parallel: PCM. A barrier of shared variables in each of `groups` groups, on a processor each,
///   whose last strands to come meet by semaphores.
/// - thread/groups: PCM as the paper simulated it, on kernel threads: in each of `groups` groups a
///   barrier on shared variables, with a semaphore that protects them, and a semaphore a group
///   between the groups.
///
/// Counters: `iterations`; P operations, blocked ones and switches for each, as `_per_meeting`.
/// Metric: `point_ns` = wall / (points · iterations). With several processors also the counter
/// `migrations`, how often a strand ended an iteration on another processor than the one before,
/// and the metric `affinity`, the share in which it did not.
class problem {
 public:
  static constexpr std::string_view name = "jacobi";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] int n() const { return grids_[0].n(); }
  [[nodiscard]] int strands() const { return strands_; }
  [[nodiscard]] int groups() const { return groups_; }
  [[nodiscard]] int group_of(int strand) const { return strand * groups_ / strands_; }
  /// Strands in that group.
  [[nodiscard]] int group_size(int group) const;
  [[nodiscard]] meeting how() const { return how_; }
  [[nodiscard]] std::int64_t slice_ns() const { return slice_ns_; }

  /// Rows `first … last - 1`.
  struct strip {
    int first;
    int last;
  };
  /// The strip that a strand computes in an iteration, 0 for the first: always the same, or,
  /// `strips` being "move", in turns its own and that of the strand half of all further.
  [[nodiscard]] strip strip_of(int strand, std::int64_t iteration) const;

  /// The kernel, the same instructions in every model: computes a row; the largest change in it.
  double relax(std::int64_t iteration, int row);
  /// Leaves a strand's largest change where the others find it after the barrier.
  void changed(std::int64_t iteration, int strand, double by) { change(iteration, strand).by = by; }
  /// After the barrier: whether that iteration was the last.
  [[nodiscard]] bool done(std::int64_t iteration) const;
  /// One strand says so, once it is done.
  void finished(std::int64_t iterations) { iterations_ = iterations; }

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

  /// The result, and where it can be spoilt.
  grid& result() { return grids_[static_cast<std::size_t>(iterations_ & 1)]; }

 private:
  // There are two for each strand, by turns: a strand that has passed the barrier writes to the one
  // that no other strand still reads.
  struct alignas(64) largest_change {
    double by = 0;
  };
  // Where a strand has run: its latest processor, and how often that was another one.
  struct alignas(64) trail {
    int processor = -1;
    std::uint64_t migrations = 0;
  };
  largest_change& change(std::int64_t iteration, int strand) {
    return changes_[static_cast<std::size_t>((iteration & 1) * strands_ + strand)];
  }
  void note_processor(int strand);
  [[nodiscard]] const grid& result() const {
    return grids_[static_cast<std::size_t>(iterations_ & 1)];
  }

  int strands_;
  int groups_;
  double epsilon_;
  double initial_;
  std::int64_t limit_;  // of iterations
  meeting how_;
  bool strips_move_;
  int processors_;
  std::int64_t slice_ns_;
  std::array<grid, 2> grids_;  // iteration k reads [k % 2] and writes the other
  std::vector<largest_change> changes_;
  std::vector<trail> trails_;
  std::int64_t iterations_ = 0;
};

}  // namespace heddle::lab::jacobi
