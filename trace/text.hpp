// Text into a buffer of fixed size: snprintf may allocate, and may be the traced program's own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::trace {

/// What follows `prefix` in `text`; null if that does not begin with it.
inline const char* after(const char* prefix, const char* text) {
  while (*prefix != '\0' && *prefix == *text) ++prefix, ++text;
  return *prefix == '\0' ? text : nullptr;
}

inline std::size_t length(const char* text) {
  std::size_t size = 0;
  while (text[size] != '\0') ++size;
  return size;
}

/// Appends to a buffer that it does not own; always zero-terminated. What does not fit is cut, and
/// `fits()` says so.
class Text {
 public:
  Text(char* to, std::size_t room) : to_(to), room_(room) { to_[0] = '\0'; }

  Text& operator<<(char c) {
    if (size_ + 1 < room_) {
      to_[size_++] = c;
      to_[size_] = '\0';
    } else {
      fits_ = false;
    }
    return *this;
  }
  Text& operator<<(const char* text) {
    while (*text != '\0') *this << *text++;
    return *this;
  }
  Text& decimal(std::uint64_t value) { return digits(value, 10); }
  Text& hex(std::uint64_t value) { return digits(value, 16); }
  Text& hex_byte(std::uint8_t value) {
    return *this << "0123456789abcdef"[value >> 4] << "0123456789abcdef"[value & 15];
  }

  [[nodiscard]] bool fits() const { return fits_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const char* c_str() const { return to_; }

  /// Back to the first `size` bytes.
  void cut(std::size_t size) {
    size_ = size;
    to_[size_] = '\0';
    fits_ = true;
  }

 private:
  Text& digits(std::uint64_t value, unsigned base) {
    char reversed[20];
    unsigned n = 0;
    do {
      reversed[n++] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    while (n > 0) *this << reversed[--n];
    return *this;
  }

  char* to_;
  std::size_t room_;
  std::size_t size_ = 0;
  bool fits_ = true;
};

}  // namespace heddle::trace
