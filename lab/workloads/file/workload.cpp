#include "workloads/file/workload.hpp"

#include <algorithm>
#include <random>
#include <string>

namespace heddle::lab::file {
namespace {

void digest(std::uint64_t& into, std::uint64_t version) {
  into = (into ^ (version + 1)) * 0x100000001B3u;
}

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("operations", 10'000, 1, 10'000'000, "altogether"),
      parameter::integer("records", 50, 1, 1'000'000, "lines of 80 bytes in the file"),
      parameter::integer(
          "threads", 10, 1, 1'000,
          "threads, goroutines or strands among which operations and records are divided"),
      parameter::word(
          "lock", {"condition", "mutex"},
          "thread, stream: shared mutex and condition variable as the source, or a mutex"),
      parameter::integer("seed", 1, 0, 1'000'000'000'000, "of the operations"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("operations", std::min<std::int64_t>(values.integer("operations"), 100));
}

problem::problem(const parameters& values)
    : data(static_cast<int>(
          std::max(values.integer("records"), values.integer("threads")))),  // each owns one
      outcomes_(static_cast<std::size_t>(values.integer("threads"))),
      plain_mutex_(values.word("lock") == "mutex") {
  std::mt19937_64 random(static_cast<std::uint64_t>(values.integer("seed")));
  std::uniform_int_distribution<int> any_kind(0, 2);
  std::uniform_int_distribution<int> any_record(0, data.count() - 1);
  const auto total = static_cast<std::size_t>(values.integer("operations"));
  operations_.reserve(total);
  for (std::size_t k = 0; k < total; ++k) {
    const auto what = static_cast<kind>(any_kind(random));
    record target{any_record(random), k + 1};
    if (what == kind::write) {
      std::uniform_int_distribution<int> own(0, (data.count() - 1 - strand_of(k)) / threads());
      target.id = own(random) * threads() + strand_of(k);
    }
    operations_.push_back({what, target});
  }
}

void problem::saw(const operation& wanted, bool done, const record& found, int strand,
                  outcome& seen) const {
  if (!done) {
    ++seen.failed;
  } else if (wanted.what == kind::read && found.id % threads() == strand) {
    digest(seen.own, found.version);
  }
}

verdict problem::check() {
  std::vector<std::uint64_t> versions(static_cast<std::size_t>(data.count()), 0);
  std::vector<std::uint64_t> own(outcomes_.size(), 0);
  for (std::size_t k = 0; k < operations_.size(); ++k) {
    const operation& each = operations_[k];
    const auto strand = static_cast<std::size_t>(strand_of(k));
    auto& version = versions[static_cast<std::size_t>(each.target.id)];
    if (each.what == kind::write) version = each.target.version;
    if (each.what == kind::read && each.target.id % threads() == strand_of(k)) {
      digest(own[strand], version);
    }
  }
  for (std::size_t strand = 0; strand < outcomes_.size(); ++strand) {
    const outcome& seen = outcomes_[strand];
    if (seen.failed != 0) {
      return {false, "strand " + std::to_string(strand) + ": " + std::to_string(seen.failed) +
                         " operations did not find a whole record in its place"};
    }
    if (seen.own != own[strand]) {
      return {false, "strand " + std::to_string(strand) +
                         " did not read what it had written to its own records"};
    }
  }
  for (int id = 0; id < data.count(); ++id) {
    record found;
    const std::uint64_t expected = versions[static_cast<std::size_t>(id)];
    if (!data.read(id, found)) {
      return {false, "record " + std::to_string(id) + " of the final file is broken"};
    }
    if (found.version != expected) {
      return {false, "record " + std::to_string(id) + " of the final file: expected version " +
                         std::to_string(expected) + ", got " + std::to_string(found.version)};
    }
  }
  return {true, "all " + std::to_string(data.count()) +
                    " records of the final file, every strand's reads of its own records and every "
                    "search equal those of a sequential run; all other reads were whole records"};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  out.metrics.add("operation_ns",
                  static_cast<double>(timed.wall_ns()) / static_cast<double>(operations_.size()));
}

}  // namespace heddle::lab::file
