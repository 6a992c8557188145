#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::lab {

/// One JSON object, members in the order in which they were added.
///
/// Forty lines of our own rather than a library: we only write, one line, and a lab program should
/// build and start fast.
class json_object {
 public:
  json_object& add(std::string_view key, std::string_view text);
  json_object& add(std::string_view key, const char* text) {
    return add(key, std::string_view(text));
  }
  json_object& add(std::string_view key, bool value);
  json_object& add(std::string_view key, std::int64_t value);
  json_object& add(std::string_view key, std::uint64_t value);
  /// The shortest digits that read back as the same number. JSON has no NaN or infinity: `null`.
  json_object& add(std::string_view key, double value);
  json_object& add(std::string_view key, const json_object& value);

  /// On one line.
  [[nodiscard]] std::string text() const { return "{" + members_ + "}"; }

 private:
  json_object& raw(std::string_view key, std::string_view value);
  std::string members_;
};

/// `text` as a JSON string with its quotes. Bytes beyond ASCII pass through as they are.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace heddle::lab
