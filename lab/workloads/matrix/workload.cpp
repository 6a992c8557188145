#include "workloads/matrix/workload.hpp"

#include <algorithm>
#include <random>
#include <string>

#include "harness/digest.hpp"
#include "harness/processors.hpp"
#include "harness/random_source.hpp"
#include "workloads/matrix/kernels.hpp"

namespace heddle::lab::matrix {
namespace {

void fill(const square& m, random_source& random) {
  for (int i = 0; i < m.size(); ++i) {
    for (int j = 0; j < m.size(); ++j) m.rows()[i][j] = static_cast<int>(random.below(201)) - 100;
  }
}

// Modulo 2^64, which cannot overflow; equal integers are equal there too.
std::vector<std::uint64_t> times(const square& m, const std::vector<std::uint64_t>& vector) {
  std::vector<std::uint64_t> product(vector.size());
  for (int i = 0; i < m.size(); ++i) {
    const int* row = m.rows()[i];
    std::uint64_t sum = 0;
    for (std::size_t j = 0; j < vector.size(); ++j) {
      sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(row[j])) * vector[j];
    }
    product[static_cast<std::size_t>(i)] = sum;
  }
  return product;
}

grain grain_named(const std::string& word) {
  if (word == "element") return grain::element;
  if (word == "dot") return grain::dot;
  return word == "row" ? grain::row : grain::block;
}

verdict compare_all(const problem& work) {
  const int n = work.n();
  // Row by row, as sums of rows of B: another order than the models'.
  std::vector<std::int64_t> row(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    row.assign(row.size(), 0);
    for (int k = 0; k < n; ++k) {
      for (int j = 0; j < n; ++j) {
        row[static_cast<std::size_t>(j)] +=
            static_cast<std::int64_t>(work.a.rows()[i][k]) * work.b.rows()[k][j];
      }
    }
    for (int j = 0; j < n; ++j) {
      const std::int64_t expected = row[static_cast<std::size_t>(j)];
      const int got = work.c.rows()[i][j];
      if (got != expected) {
        return {false, "element (" + std::to_string(i) + ", " + std::to_string(j) + "): expected " +
                           std::to_string(expected) + ", got " + std::to_string(got)};
      }
    }
  }
  return {true, "all " + std::to_string(n) + " × " + std::to_string(n) +
                    " elements equal those of a product computed row by row"};
}

verdict freivalds(const problem& work, std::uint64_t seed) {
  constexpr int vectors = 4;
  std::mt19937_64 random(~seed);
  for (int v = 0; v < vectors; ++v) {
    std::vector<std::uint64_t> r(static_cast<std::size_t>(work.n()));
    for (std::uint64_t& each : r) each = random();
    const auto expected = times(work.a, times(work.b, r));
    const auto got = times(work.c, r);
    for (std::size_t i = 0; i < r.size(); ++i) {
      if (got[i] != expected[i]) {
        return {false, "row " + std::to_string(i) + " of C times a random vector: expected " +
                           std::to_string(expected[i]) + ", got " + std::to_string(got[i])};
      }
    }
  }
  return {true, "C times " + std::to_string(vectors) +
                    " random vectors equals A times (B times them), modulo 2^64"};
}

}  // namespace

square::square(int n) : n_(n), rows_(new int*[static_cast<std::size_t>(n)]) {
  for (int i = 0; i < n; ++i) rows_[i] = new int[static_cast<std::size_t>(n)]();
}

square::~square() {
  for (int i = 0; i < n_; ++i) delete[] rows_[i];
  delete[] rows_;
}

std::vector<parameter> problem::declare() {
  return {
      parameter::integer("n", 256, 1, 10'000, "rows and columns"),
      parameter::integer("threads", processors(), 1, 1'000,
                         "that divide the rows: threads, goroutines, cooperative strands"),
      parameter::word("unit", {"element", "dot", "row", "block"},
                      "computed between two suspensions: an element in the coroutine's body, one "
                      "by a function, a row, 32 rows by a blocked kernel"),
      parameter::integer("seed", 1, 0, 1'000'000'000'000, "of the random elements"),
      parameter::integer("processors", 0, 0, 64, "that all may use together; 0: all there are"),
      parameter::integer("groups", 2, 1, 64, "PCM: that divide the rows, a processor each"),
      parameter::integer("slice-us", 1000, 1, 1'000'000, "concurrent: a time slice"),
  };
}

parameters problem::small(const parameters& values) {
  return values.with("n", std::min<std::int64_t>(values.integer("n"), 16));
}

problem::problem(const parameters& values)
    : a(static_cast<int>(values.integer("n"))),
      b(a.size()),
      c(a.size()),
      threads_(static_cast<int>(values.integer("threads"))),
      unit_(grain_named(values.word("unit"))),
      seed_(static_cast<std::uint64_t>(values.integer("seed"))),
      groups_(std::min(threads_, static_cast<int>(values.integer("groups")))),
      slice_ns_(1000 * values.integer("slice-us")) {
  if (const auto used = static_cast<int>(values.integer("processors")); used > 0) {
    pin_to_processors(used);
  }
  random_source random(seed_);
  fill(a, random);
  fill(b, random);
}

std::uint64_t problem::units() const {
  const auto rows = static_cast<std::uint64_t>(n());
  if (unit_ == grain::element || unit_ == grain::dot) return rows * rows;
  std::uint64_t units = 0;
  for (int i = 0; i < threads_; ++i) {
    const share mine(*this, i, threads_);
    units += static_cast<std::uint64_t>((mine.last - mine.first + unit_rows() - 1) / unit_rows());
  }
  return units;
}

verdict problem::check() const {
  return n() <= full_check_limit ? compare_all(*this) : freivalds(*this, seed_);
}

void problem::report(const region&, results& out, const rerun&) const {
  digest elements;
  for (int i = 0; i < n(); ++i) {
    for (int j = 0; j < n(); ++j) {
      elements.add(static_cast<std::uint64_t>(static_cast<std::int64_t>(c.rows()[i][j])));
    }
  }
  out.result = elements.text();
}

}  // namespace heddle::lab::matrix
