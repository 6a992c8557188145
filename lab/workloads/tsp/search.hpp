#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace heddle::lab::tsp {

/// Exact up to here: the oracle's table has cities · 2^cities entries.
inline constexpr int most_cities = 16;

/// The distances between the cities, in whole units.
class map {
 public:
  /// Random points in a square of 1000 by 1000.
  map(int cities, std::uint64_t seed);

  [[nodiscard]] int cities() const { return cities_; }
  [[nodiscard]] int distance(int from, int to) const {
    return distances_[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  }

 private:
  int cities_;
  std::array<std::array<int, most_cities>, most_cities> distances_{};
};

/// A tour from city 0, or the beginning of one.
struct tour {
  std::array<std::uint8_t, most_cities> order{};
  int cities = 0;  ///< in `order`
  int length = 0;  ///< up to the last of them; of a whole tour, back home too

  void append(const map& on, int city);
};

/// All beginnings of `depth` cities, 2 at least, in the order of their numbers.
[[nodiscard]] std::vector<tour> beginnings(const map& on, int depth);

/// Receives the tours that are shorter than the bound.
class finder {
 public:
  virtual void found(const tour& candidate) = 0;

 protected:
  ~finder() = default;
};

/// Where a search may be switched although it does not wait.
enum class implicit_switches : std::uint8_t {
  none,          ///< and no checkpoint is compiled in, as SR's CM programs have none
  at_each_node,  ///< CP on our own runtime: a checkpoint at each beginning of a tour
};

/// The kernel, the same instructions in every model but for the checkpoints: follows `beginning` to
/// all tours that are shorter than `bound` is meanwhile. How many beginnings it looked at.
template <implicit_switches at = implicit_switches::none>
std::uint64_t search(const map& on, const tour& beginning, const std::atomic<int>& bound,
                     finder& shorter);

/// The length of the shortest tour by dynamic programming over the sets of cities (Held and Karp):
/// time 2^cities · cities².
[[nodiscard]] int shortest_length(const map& on);

}  // namespace heddle::lab::tsp
