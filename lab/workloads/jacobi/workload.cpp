#include "workloads/jacobi/workload.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "harness/digest.hpp"
#include "harness/processors.hpp"

namespace heddle::lab::jacobi {
namespace {

meeting meeting_named(const std::string& word) {
  if (word == "paper") return meeting::paper;
  if (word == "waitfor") return meeting::waitfor;
  return word == "watched" ? meeting::watched : meeting::library;
}

// x² − y² on the unit square, which the mean of four neighbours leaves as it is.
double boundary(int n, int i, int j) {
  const double side = n + 1;
  return (static_cast<double>(j) * j - static_cast<double>(i) * i) / (side * side);
}

void prepare(grid& values, double initial) {
  const int n = values.n();
  for (int i = 0; i <= n + 1; ++i) {
    for (int j = 0; j <= n + 1; ++j) {
      const bool inside = i > 0 && i <= n && j > 0 && j <= n;
      values.row(i)[j] = inside ? initial : boundary(n, i, j);
    }
  }
}

// Not inline: every model calls these very instructions.
[[gnu::noinline]] double relax_row(const grid& from, grid& to, int i) {
  const double* const above = from.row(i - 1);
  const double* const here = from.row(i);
  const double* const below = from.row(i + 1);
  double* const next = to.row(i);
  const int n = from.n();
  double largest = 0;
  for (int j = 1; j <= n; ++j) {
    next[j] = 0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1]);
    largest = std::max(largest, std::fabs(next[j] - here[j]));
  }
  return largest;
}

// The largest distance of a point from the mean of its neighbours.
double residual(const grid& points) {
  double largest = 0;
  for (int i = 1; i <= points.n(); ++i) {
    for (int j = 1; j <= points.n(); ++j) {
      const double mean = (points.row(i)[j - 1] + points.row(i)[j + 1] + points.row(i - 1)[j] +
                           points.row(i + 1)[j]) /
                          4;
      largest = std::max(largest, std::fabs(points.row(i)[j] - mean));
    }
  }
  return largest;
}

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("n", 64, 1, 10'000, "rows and columns of the interior"),
      parameter::integer("strands", 8, 1, 1000, "that divide the rows among them"),
      parameter::real("epsilon", 1e-4, 1e-12, 1, "converged: no point changes by more"),
      parameter::real("initial", 0, -1e6, 1e6, "value of the interior points"),
      parameter::integer("iterations", 1'000'000, 1, 1'000'000'000, "at most, converged or not"),
      parameter::integer("processors", 1, 1, 64, "that all strands may use together"),
      parameter::integer("groups", 2, 1, 64, "PCM: of neighbouring strips; a processor each"),
      parameter::word("barrier", {"paper", "waitfor", "watched", "library"},
                      "P and V, cooperative: yields; cooperative: wait_for(), or wait_until(), the "
                      "others as before; the model's own barrier"),
      parameter::word("strips", {"stay", "move"},
                      "a strand's rows are the same in each iteration, or by turns those of the "
                      "strand half of all further, in the other of two groups"),
      parameter::integer("slice-us", 1000, 1, 1'000'000, "concurrent: a time slice"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("n", std::min<std::int64_t>(values.integer("n"), 16)).with("iterations", 20);
}

problem::problem(const parameters& values)
    : strands_(static_cast<int>(values.integer("strands"))),
      groups_(std::min(strands_, static_cast<int>(values.integer("groups")))),
      epsilon_(values.real("epsilon")),
      initial_(values.real("initial")),
      limit_(values.integer("iterations")),
      how_(meeting_named(values.word("barrier"))),
      strips_move_(values.word("strips") == "move"),
      processors_(static_cast<int>(values.integer("processors"))),
      slice_ns_(1000 * values.integer("slice-us")),
      grids_{grid(static_cast<int>(values.integer("n"))),
             grid(static_cast<int>(values.integer("n")))},
      changes_(2 * static_cast<std::size_t>(strands_)),
      trails_(static_cast<std::size_t>(strands_)) {
  pin_to_processors(processors_);
  for (grid& each : grids_) prepare(each, initial_);
}

int problem::group_size(int group) const {
  int size = 0;
  for (int strand = 0; strand < strands_; ++strand) size += group_of(strand) == group ? 1 : 0;
  return size;
}

problem::strip problem::strip_of(int strand, std::int64_t iteration) const {
  std::int64_t at = strand;
  if (strips_move_ && (iteration & 1) != 0) at = (strand + strands_ / 2) % strands_;
  return {static_cast<int>(1 + n() * at / strands_),
          static_cast<int>(1 + n() * (at + 1) / strands_)};
}

double problem::relax(std::int64_t iteration, int row) {
  const auto from = static_cast<std::size_t>(iteration & 1);
  return relax_row(grids_[from], grids_[1 - from], row);
}

void problem::note_processor(int strand) {
  trail& its = trails_[static_cast<std::size_t>(strand)];
  const int processor = sched_getcpu();
  if (its.processor >= 0 && its.processor != processor) ++its.migrations;
  its.processor = processor;
}

bool problem::done(std::int64_t iteration) const {
  if (iteration + 1 >= limit_) return true;
  const auto first = changes_.begin() + (iteration & 1) * strands_;
  return std::all_of(first, first + strands_,
                     [this](const largest_change& each) { return each.by <= epsilon_; });
}

verdict problem::check() const {
  std::array<grid, 2> expected{grid(n()), grid(n())};
  for (grid& each : expected) prepare(each, initial_);
  std::int64_t iterations = 0;
  for (double largest = 2 * epsilon_; largest > epsilon_ && iterations < limit_; ++iterations) {
    const auto from = static_cast<std::size_t>(iterations & 1);
    largest = 0;
    for (int i = 1; i <= n(); ++i) {
      largest = std::max(largest, relax_row(expected[from], expected[1 - from], i));
    }
  }
  if (iterations_ != iterations) {
    return {false, "expected: " + std::to_string(iterations) +
                       " iterations, as the serial solver's; " + std::to_string(iterations_) +
                       " were made"};
  }
  const grid& right = expected[static_cast<std::size_t>(iterations & 1)];
  for (int i = 0; i <= n() + 1; ++i) {
    for (int j = 0; j <= n() + 1; ++j) {
      if (result().row(i)[j] == right.row(i)[j]) continue;
      return {false, "point (" + std::to_string(i) + ", " + std::to_string(j) + "): expected " +
                         std::to_string(right.row(i)[j]) + ", as the serial solver's; got " +
                         std::to_string(result().row(i)[j])};
    }
  }
  // The mean of neighbours who each moved by epsilon at most moves no more than that itself.
  const double left = residual(result());
  if (iterations < limit_ && left > epsilon_ * (1 + 1e-9) + 1e-15) {
    return {false, "expected: a residual of " + std::to_string(epsilon_) + " at most, got " +
                       std::to_string(left)};
  }
  return {true, "all points and the " + std::to_string(iterations) +
                    " iterations equal the serial solver's, and the residual is within epsilon"};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  const double points = static_cast<double>(n()) * n() * static_cast<double>(iterations_);
  out.metrics.add("point_ns", static_cast<double>(timed.wall_ns()) / points);
  out.counters.add("iterations", iterations_);
  digest values;
  for (int i = 1; i <= n(); ++i) {
    for (int j = 1; j <= n(); ++j) values.add(std::bit_cast<std::uint64_t>(result().row(i)[j]));
  }
  out.result = std::to_string(iterations_) + " iterations, " + values.text();
  const counters& counted = timed.counted();
  const auto per_meeting = [&](const char* counter, std::uint64_t of_all) {
    out.counters.add(counter, static_cast<double>(of_all) / static_cast<double>(iterations_));
  };
  per_meeting("p_operations_per_meeting", counted.p_operations);
  per_meeting("blocked_p_operations_per_meeting", counted.blocked_p_operations);
  per_meeting("strand_switches_per_meeting", counted.strand_switches);
  if (processors_ == 1) return;
  std::uint64_t migrations = 0;
  for (const trail& each : trails_) migrations += each.migrations;
  out.counters.add("migrations", migrations);
  out.metrics.add("affinity", 1 - static_cast<double>(migrations) /
                                      (static_cast<double>(iterations_) * strands_));
}

}  // namespace heddle::lab::jacobi
