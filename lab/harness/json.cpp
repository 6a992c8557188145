#include "harness/json.hpp"

#include <charconv>
#include <cmath>

namespace heddle::lab {
namespace {

template <class Number>
std::string digits(Number value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, result.ptr};
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr char hex[] = "0123456789abcdef";
      quoted += "\\u00";
      quoted += hex[c >> 4];
      quoted += hex[c & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

json_object& json_object::raw(std::string_view key, std::string_view value) {
  if (!members_.empty()) members_ += ", ";
  members_ += json_string(key);
  members_ += ": ";
  members_ += value;
  return *this;
}

json_object& json_object::add(std::string_view key, std::string_view text) {
  return raw(key, json_string(text));
}
json_object& json_object::add(std::string_view key, bool value) {
  return raw(key, value ? "true" : "false");
}
json_object& json_object::add(std::string_view key, std::int64_t value) {
  return raw(key, digits(value));
}
json_object& json_object::add(std::string_view key, std::uint64_t value) {
  return raw(key, digits(value));
}
json_object& json_object::add(std::string_view key, double value) {
  return raw(key, std::isfinite(value) ? digits(value) : "null");
}
json_object& json_object::add(std::string_view key, const json_object& value) {
  return raw(key, value.text());
}

}  // namespace heddle::lab
