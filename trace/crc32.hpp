// CRC-32 (IEEE 802.3), by half bytes: a table of 64 bytes stays in the cache of a program that
// needs it a few times.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::trace {

struct Crc32Table {
  std::uint32_t of_half_byte[16];

  constexpr Crc32Table() : of_half_byte{} {
    for (std::uint32_t i = 0; i < 16; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 4; ++bit) value = value >> 1 ^ (value % 2 != 0 ? 0xedb88320 : 0);
      of_half_byte[i] = value;
    }
  }
};
inline constexpr Crc32Table kCrc32;

constexpr std::uint32_t crc32(const char* bytes, std::size_t size) {
  std::uint32_t value = ~std::uint32_t{0};
  for (std::size_t i = 0; i < size; ++i) {
    value ^= static_cast<std::uint8_t>(bytes[i]);
    value = value >> 4 ^ kCrc32.of_half_byte[value % 16];
    value = value >> 4 ^ kCrc32.of_half_byte[value % 16];
  }
  return ~value;
}

static_assert(crc32("123456789", 9) == 0xcbf43926, "the check value of this CRC");

}  // namespace heddle::trace
