#pragma once

#include <cstdint>
#include <unordered_map>

namespace heddle::lab::kv {

/// A stored value that can be told from garbage: its seal follows from the key and the version.
struct value {
  std::uint64_t version = 0;
  std::uint64_t seal = 0;
};

/// The seal of a key's version (a finaliser of MurmurHash3, on both).
inline std::uint64_t seal_of(int key, std::uint64_t version) {
  std::uint64_t x = version * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(key);
  x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCDu;
  x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53u;
  return x ^ (x >> 33);
}

/// "We used an unordered_map and a custom class to implement a key-value store with get, set,
/// delete, and range query functionalities" (3.2.2). No locks: that is the models' business.
class store {
 public:
  store() = default;
  explicit store(std::size_t expected_keys) { map_.reserve(expected_keys); }

  /// Null where there is no such key.
  [[nodiscard]] const value* get(int key) const {
    const auto found = map_.find(key);
    return found == map_.end() ? nullptr : &found->second;
  }
  void set(int key, const value& stored) { map_.insert_or_assign(key, stored); }
  void remove(int key) { map_.erase(key); }

  /// Calls `visit(key, value)` for each present key in [first, last).
  template <class Visit>
  void range(int first, int last, Visit&& visit) const {
    for (int key = first; key < last; ++key) {
      const auto found = map_.find(key);
      if (found != map_.end()) visit(key, found->second);
    }
  }

  [[nodiscard]] const std::unordered_map<int, value>& map() const { return map_; }

 private:
  std::unordered_map<int, value> map_;
};

}  // namespace heddle::lab::kv
