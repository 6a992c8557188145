#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "workloads/http/bytes.hpp"

namespace heddle::lab::http {

/// The back end's protocol: of Redis' (RESP2), a GET and its two answers.

/// Appends the request for `key`.
void write_get(bytes& to, std::string_view key);

/// The back end's value for a key.
struct reply {
  bool found = false;
  std::string_view value;
  std::size_t bytes = 0;  // of the reply, to be taken
};

/// The state of a reply whose beginning was received.
enum class reply_state { incomplete, whole, broken };

/// Looks for a whole reply at the beginning of `text`. Broken is also the back end's own error.
reply_state read_reply(std::string_view text, reply& into);

/// Looks for a whole GET at the beginning of `text`: its key, and the bytes to be taken. For stubs.
std::optional<std::string_view> read_get(std::string_view text, std::size_t& bytes);

}  // namespace heddle::lab::http
