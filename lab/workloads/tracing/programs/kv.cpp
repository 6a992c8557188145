// The article's key-value store (3.2.2): a class round an unordered_map with get, set, delete and
// range queries, a generator with a ratio of writes to reads, ten threads, a mutex round each
// operation.
//
// Two runs must make the same calls, whichever thread is first. So each thread has keys of its own,
// there is a bucket for each key, and a key that is never deleted keeps the map from being empty.
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "teams.h"

namespace models {

constexpr int threads = 10;
constexpr int keys = 20;        // of each thread
constexpr int operations = 10;  // of each thread and round
constexpr int writes_in_10 = 3;

class store {
 public:
  store() {
    values_.reserve(2 * threads * keys);
    values_.emplace(threads * keys, "never deleted");
  }

  void set(int key, const std::string& value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    values_[key] = value;
  }

  std::optional<std::string> get(int key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    return found->second;
  }

  bool remove(int key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return values_.erase(key) != 0;
  }

  std::vector<std::string> range(int first, int last) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::string> found;
    for (int key = first; key < last; ++key) {
      const auto at = values_.find(key);
      if (at != values_.end()) found.push_back(at->second);
    }
    return found;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<int, std::string> values_;
};

enum class kind { get, range, set, remove };

struct operation {
  kind what;
  int key;
};

std::vector<operation> generate(int thread, long round) {
  std::minstd_rand random(static_cast<unsigned>(1 + thread + threads * round));
  std::vector<operation> all;
  for (int i = 0; i < operations; ++i) {
    const bool write = static_cast<int>(random() % 10) < writes_in_10;
    const bool rare = random() % 8 == 0;
    const int key = thread * keys + static_cast<int>(random() % keys);
    const kind what = write ? (rare ? kind::remove : kind::set) : (rare ? kind::range : kind::get);
    all.push_back({what, key});
  }
  return all;
}

std::uint64_t execute(store& shared, int thread, long round) {
  std::uint64_t sum = 0;
  for (const operation& each : generate(thread, round)) {
    switch (each.what) {
      case kind::get:
        sum += shared.get(each.key).value_or("").size();
        break;
      case kind::range:
        sum += shared.range(thread * keys, each.key).size();
        break;
      case kind::set:
        shared.set(each.key, "value of " + std::to_string(each.key));
        break;
      case kind::remove:
        sum += shared.remove(each.key) ? 1u : 0u;
        break;
    }
  }
  return sum;
}

struct workload {
  store shared;
  long rounds;
};

std::uint64_t run(workload& all, int thread) {
  std::uint64_t sum = 0;
  for (long i = 0; i < all.rounds; ++i) sum += execute(all.shared, thread, i);
  return sum;
}

}  // namespace models

// Not recorded itself: all recorded calls are those in the namespace, and what these call.
__attribute__((no_instrument_function)) uint64_t work(long rounds) {
  models::workload all;
  all.rounds = rounds;
  return teams::run(all, models::threads, &models::run);
}
