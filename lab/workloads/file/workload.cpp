#include "workloads/file/workload.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "harness/random_source.hpp"

namespace heddle::lab::file {

namespace {

// Bytes that this process has had from devices so far; 0 where the kernel does not count.
std::uint64_t read_from_device() {
  constexpr std::string_view name = "read_bytes: ";
  std::ifstream counted("/proc/self/io");
  for (std::string line; std::getline(counted, line);) {
    if (line.starts_with(name)) return std::stoull(line.substr(name.size()));
  }
  return 0;
}

}  // namespace

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("operations", 10'000, 1, 10'000'000, "altogether"),
      parameter::integer("records", 50, 1, 20'000'000, "lines of 80 bytes in the file"),
      parameter::word("cache", {"warm", "cold"}, "whether the file is in memory at first"),
      parameter::integer("span", 0, 0, 20'000'000,
                         "lines that a search reads at most; 0: from the file's start"),
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
  return values.with("operations", std::min<std::int64_t>(values.integer("operations"), 100))
      .with("records", std::min<std::int64_t>(values.integer("records"), 1000));
}

problem::problem(const parameters& values)
    : data(static_cast<int>(
          std::max(values.integer("records"), values.integer("threads")))),  // each owns one
      outcomes_(static_cast<std::size_t>(values.integer("threads"))),
      span_(static_cast<int>(values.integer("span"))),
      plain_mutex_(values.word("lock") == "mutex") {
  random_source random(static_cast<std::uint64_t>(values.integer("seed")));
  const auto below = [&random](int count) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(count)));
  };
  const auto total = static_cast<std::size_t>(values.integer("operations"));
  operations_.reserve(total);
  for (std::size_t k = 0; k < total; ++k) {
    const auto what = static_cast<kind>(below(3));
    record target{below(data.count()), k + 1};
    if (what == kind::write) {
      const int own = (data.count() - 1 - strand_of(k)) / threads() + 1;
      target.id = below(own) * threads() + strand_of(k);
    }
    operations_.push_back({what, target});
  }
  if (values.word("cache") == "cold") data.forget_cached();
  read_before_ = read_from_device();
}

void problem::saw(const operation& wanted, bool done, const record& found, int strand,
                  outcome& seen) const {
  if (!done) {
    ++seen.failed;
  } else if (wanted.what == kind::read && found.id % threads() == strand) {
    seen.own.add(found.version);
  }
}

verdict problem::check() {
  device_bytes_ = read_from_device() - read_before_;
  std::vector<std::uint64_t> versions(static_cast<std::size_t>(data.count()), 0);
  std::vector<digest> own(outcomes_.size());
  for (std::size_t k = 0; k < operations_.size(); ++k) {
    const operation& each = operations_[k];
    const auto strand = static_cast<std::size_t>(strand_of(k));
    auto& version = versions[static_cast<std::size_t>(each.target.id)];
    if (each.what == kind::write) version = each.target.version;
    if (each.what == kind::read && each.target.id % threads() == strand_of(k)) {
      own[strand].add(version);
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
  digest all;
  std::string wrong;
  data.for_each_line([&](int id, std::string_view line) {
    const std::uint64_t expected = versions[static_cast<std::size_t>(id)];
    all.add(expected);
    if (!wrong.empty() || line == record{id, expected}.line()) return;
    record found;
    wrong = "record " + std::to_string(id) + " of the final file";
    if (!record::parse(std::string(line), found)) {
      wrong += " is broken";
    } else {
      wrong += ": expected version " + std::to_string(expected) + ", got " +
               std::to_string(found.version);
    }
  });
  if (!wrong.empty()) return {false, wrong};
  for (const outcome& seen : outcomes_) all.add(seen.own.value());
  result_ = all.text();
  return {true, "all " + std::to_string(data.count()) +
                    " records of the final file, every strand's reads of its own records and every "
                    "search equal those of a sequential run; all other reads were whole records"};
}

void problem::report(const region& timed, results& out, const rerun&) const {
  out.metrics.add("operation_ns",
                  static_cast<double>(timed.wall_ns()) / static_cast<double>(operations_.size()));
  out.counters.add("device_read_bytes", device_bytes_);
  out.result = result_;
}

}  // namespace heddle::lab::file
