#include "proc_text.hpp"

#include "sys.hpp"

namespace heddle::trace {

namespace {

bool parse_hex(const char*& at, const char* end, std::uint64_t& value) {
  value = 0;
  const char* begin = at;
  for (; at < end; ++at) {
    const char c = *at;
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<std::uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value * 16 + static_cast<std::uint64_t>(c - 'a' + 10);
    } else {
      break;
    }
  }
  return at > begin;
}

}  // namespace

bool find_in_maps(long fd, std::uint64_t address, StackBounds& found, char* text,
                  std::uint64_t room) {
  std::uint64_t held = 0;
  while (true) {
    const long n = sys::read(fd, text + held, room - held);
    if (n <= 0) return false;
    held += static_cast<std::uint64_t>(n);
    const char* line = text;
    const char* end = text + held;
    while (true) {
      const char* newline = line;
      while (newline < end && *newline != '\n') ++newline;
      if (newline == end) break;
      const char* at = line;
      std::uint64_t low, high;
      if (parse_hex(at, newline, low) && at < newline && *at++ == '-' &&
          parse_hex(at, newline, high) && address >= low && address < high) {
        found = {low, high};
        return true;
      }
      line = newline + 1;
    }
    held = static_cast<std::uint64_t>(end - line);
    if (held == room) return false;
    for (std::uint64_t i = 0; i < held; ++i) text[i] = line[i];
  }
}

std::uint64_t start_of_main_stack(const char* text, std::uint64_t bytes) {
  std::uint64_t at = bytes;
  while (at > 0 && text[at - 1] != ')') --at;
  unsigned field = 2;
  for (; at < bytes && field < 28; ++at) {
    if (text[at] == ' ') ++field;
  }
  std::uint64_t value = 0;
  for (; at < bytes && text[at] >= '0' && text[at] <= '9'; ++at) {
    value = value * 10 + static_cast<std::uint64_t>(text[at] - '0');
  }
  return value;
}

}  // namespace heddle::trace
