// Words of tables that hooks of any thread, and the signal handlers in them, read and change.
#pragma once

#include <cstdint>

namespace heddle::trace {

/// The top bits of the product with 2^64 over the golden ratio.
constexpr std::uint64_t hash(std::uint64_t value, unsigned bits) {
  return value * 0x9e3779b97f4a7c15 >> (64 - bits);
}

inline std::uint64_t load_word(const std::uint64_t& word) {
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

inline void store_word(std::uint64_t& word, std::uint64_t value) {
  __atomic_store_n(&word, value, __ATOMIC_RELAXED);
}

}  // namespace heddle::trace
