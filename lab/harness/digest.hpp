#pragma once

#include <cstdint>
#include <string>

namespace heddle::lab {

/// A checksum of numbers in their order, the same in every language: how a program's result is
/// compared with those of other models.
class digest {
 public:
  void add(std::uint64_t number) {
    value_ = (value_ ^ (number + 1)) * 0x100000001B3u;
    value_ ^= value_ >> 32;  // so that a difference in the upper half reaches the lower one, too
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }
  [[nodiscard]] std::string text() const { return std::to_string(value_); }
  bool operator==(const digest&) const = default;

 private:
  std::uint64_t value_ = 0;
};

}  // namespace heddle::lab
