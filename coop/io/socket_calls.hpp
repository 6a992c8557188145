#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <string>

#include "heddle/coop/ext/operation.hpp"
#include "heddle/coop/io/endpoint.hpp"
#include "heddle/coop/io/result.hpp"

namespace heddle::coop::io::detail {

/// Converts the return value of a system call on the socket, 0 or -1, to a result; `what` names the
/// call ("an option").
inline result<void> outcome_of(int returned, const char* what, const file_ref& state) {
  if (returned == 0) return {};
  const int error = errno;
  return {error, what + std::string(" of ") + state->name};
}

/// getsockname() or getpeername().
inline result<endpoint> address_of(int (*ask)(int, sockaddr*, socklen_t*), const char* what,
                                   const file_ref& state) {
  sockaddr_storage storage;
  socklen_t length = sizeof storage;
  auto* const answer = reinterpret_cast<sockaddr*>(&storage);
  if (ask(state->fd, answer, &length) != 0) {
    const int error = errno;
    return {error, what + std::string(" of ") + state->name};
  }
  return result(endpoint(answer, length));
}

}  // namespace heddle::coop::io::detail
