// Containers, strings and algorithms of the standard library with every function of its headers
// instrumented: hooks of inlined functions, small functions, a comparator called from std::sort.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "work.h"

namespace {

std::uint64_t round_of(std::uint32_t seed) {
  std::vector<std::uint32_t> values;
  for (int i = 0; i < 40; ++i) {
    seed = seed * 1664525u + 1013904223u;
    values.push_back(seed >> 8);
  }
  std::sort(values.begin(), values.end(),
            [](std::uint32_t a, std::uint32_t b) { return a % 1009 < b % 1009; });
  std::map<std::string, std::uint64_t> ordered;
  std::unordered_map<std::uint32_t, std::string> names;
  for (const std::uint32_t value : values) {
    std::string name = "strand " + std::to_string(value % 64);
    ordered[name] += value;
    names.emplace(value, std::move(name));
  }
  return std::accumulate(
      ordered.begin(), ordered.end(), std::uint64_t{names.size()},
      [](std::uint64_t sum, const auto& each) { return sum + each.second * each.first.size(); });
}

}  // namespace

std::uint64_t work(long rounds) {
  std::uint64_t sum = 0;
  for (long i = 0; i < rounds; ++i) sum += round_of(static_cast<std::uint32_t>(i));
  return sum;
}
