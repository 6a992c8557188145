#include "workloads/tsp/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "heddle/coop/concurrent.hpp"

namespace heddle::lab::tsp {
namespace {

template <implicit_switches at>
class depth_first {
 public:
  depth_first(const map& on, const tour& beginning, const std::atomic<int>& bound, finder& shorter)
      : map_(on), path_(beginning), bound_(bound), shorter_(shorter) {
    for (int i = 0; i < path_.cities; ++i) seen_ |= 1U << path_.order[static_cast<std::size_t>(i)];
  }

  // Everything that begins like the path.
  void follow() {
    if constexpr (at == implicit_switches::at_each_node) coop::await(coop::checkpoint());
    ++nodes_;
    const int last = path_.order[static_cast<std::size_t>(path_.cities - 1)];
    if (path_.cities == map_.cities()) {
      tour whole = path_;
      whole.length += map_.distance(last, 0);
      if (whole.length < bound_.load(std::memory_order_relaxed)) shorter_.found(whole);
      return;
    }
    const int length = path_.length;
    for (int city = 1; city < map_.cities(); ++city) {
      if ((seen_ & 1U << city) != 0) continue;
      const int longer = length + map_.distance(last, city);
      if (longer >= bound_.load(std::memory_order_relaxed)) continue;
      seen_ |= 1U << city;
      path_.order[static_cast<std::size_t>(path_.cities++)] = static_cast<std::uint8_t>(city);
      path_.length = longer;
      follow();
      --path_.cities;
      seen_ &= ~(1U << city);
    }
    path_.length = length;
  }

  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }

 private:
  const map& map_;
  tour path_;
  const std::atomic<int>& bound_;
  finder& shorter_;
  unsigned seen_ = 0;  // a bit a city
  std::uint64_t nodes_ = 0;
};

void append_all(const map& on, const tour& path, int depth, std::vector<tour>& all) {
  if (path.cities == depth) return all.push_back(path);
  for (int city = 1; city < on.cities(); ++city) {
    const auto end = path.order.begin() + path.cities;
    if (std::find(path.order.begin(), end, city) != end) continue;
    tour longer = path;
    longer.append(on, city);
    append_all(on, longer, depth, all);
  }
}

}  // namespace

map::map(int cities, std::uint64_t seed) : cities_(cities) {
  // Knuth's, simple enough to be the same in every language.
  std::linear_congruential_engine<std::uint64_t, 6364136223846793005U, 1442695040888963407U, 0>
      random(seed);
  std::array<double, most_cities> x{};
  std::array<double, most_cities> y{};
  const auto coordinate = [&random] { return static_cast<double>((random() >> 33) % 1000); };
  for (std::size_t i = 0; i < static_cast<std::size_t>(cities); ++i) {
    x[i] = coordinate();
    y[i] = coordinate();
    for (std::size_t j = 0; j < i; ++j) {
      distances_[i][j] = distances_[j][i] =
          static_cast<int>(std::lround(std::hypot(x[i] - x[j], y[i] - y[j])));
    }
  }
}

void tour::append(const map& on, int city) {
  if (cities > 0) length += on.distance(order[static_cast<std::size_t>(cities - 1)], city);
  order[static_cast<std::size_t>(cities++)] = static_cast<std::uint8_t>(city);
}

std::vector<tour> beginnings(const map& on, int depth) {
  tour home;
  home.append(on, 0);
  std::vector<tour> all;
  append_all(on, home, depth, all);
  return all;
}

template <implicit_switches at>
std::uint64_t search(const map& on, const tour& beginning, const std::atomic<int>& bound,
                     finder& shorter) {
  depth_first<at> from(on, beginning, bound, shorter);
  from.follow();
  return from.nodes();
}
template std::uint64_t search<implicit_switches::none>(const map&, const tour&,
                                                       const std::atomic<int>&, finder&);
template std::uint64_t search<implicit_switches::at_each_node>(const map&, const tour&,
                                                               const std::atomic<int>&, finder&);

int shortest_length(const map& on) {
  // shortest[set][last]: from city 0 through all of `set`, which has neither 0 nor others, to last.
  const int others = on.cities() - 1;
  const std::size_t sets = std::size_t{1} << others;
  constexpr int never = std::numeric_limits<int>::max() / 2;
  std::vector<std::array<int, most_cities>> shortest(sets);
  for (std::size_t set = 1; set < sets; ++set) {
    for (int last = 0; last < others; ++last) {
      int& best = shortest[set][static_cast<std::size_t>(last)];
      best = never;
      const std::size_t without = set & ~(std::size_t{1} << last);
      if (without == set) continue;
      if (without == 0) best = on.distance(0, last + 1);
      for (int before = 0; before < others; ++before) {
        if ((without >> before & 1) == 0) continue;
        best = std::min(best, shortest[without][static_cast<std::size_t>(before)] +
                                  on.distance(before + 1, last + 1));
      }
    }
  }
  int best = never;
  for (int last = 0; last < others; ++last) {
    best = std::min(best,
                    shortest[sets - 1][static_cast<std::size_t>(last)] + on.distance(last + 1, 0));
  }
  return best;
}

}  // namespace heddle::lab::tsp
