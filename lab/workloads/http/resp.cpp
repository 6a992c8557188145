#include "workloads/http/resp.hpp"

#include <charconv>
#include <string>

namespace heddle::lab::http {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view get_head = "*2\r\n$3\r\nGET\r\n";

// A line `PREFIX NUMBER CRLF` at `at`, which is moved behind it.
reply_state read_length(std::string_view text, std::size_t& at, long& length) {
  if (at >= text.size()) return reply_state::incomplete;
  if (text[at] != '$') return reply_state::broken;
  const std::size_t end = text.find(line_end, at);
  if (end == std::string_view::npos) {
    return text.size() - at > 24 ? reply_state::broken : reply_state::incomplete;
  }
  const auto [last, error] = std::from_chars(text.data() + at + 1, text.data() + end, length);
  if (error != std::errc() || last != text.data() + end) return reply_state::broken;
  at = end + line_end.size();
  return reply_state::whole;
}

}  // namespace

void write_get(bytes& to, std::string_view key) {
  to.append(get_head);
  to.append("$" + std::to_string(key.size()) + "\r\n");
  to.append(key);
  to.append(line_end);
}

reply_state read_reply(std::string_view text, reply& into) {
  std::size_t at = 0;
  long length = 0;
  const reply_state state = read_length(text, at, length);
  if (state != reply_state::whole) return state;
  if (length < 0) {
    into = {false, {}, at};
    return reply_state::whole;
  }
  const auto size = static_cast<std::size_t>(length);
  if (text.size() < at + size + line_end.size()) return reply_state::incomplete;
  into = {true, text.substr(at, size), at + size + line_end.size()};
  return text.substr(at + size, line_end.size()) == line_end ? reply_state::whole
                                                             : reply_state::broken;
}

std::optional<std::string_view> read_get(std::string_view text, std::size_t& bytes) {
  if (!text.starts_with(get_head)) return {};
  reply key;
  if (read_reply(text.substr(get_head.size()), key) != reply_state::whole) return {};
  bytes = get_head.size() + key.bytes;
  return key.value;
}

}  // namespace heddle::lab::http
