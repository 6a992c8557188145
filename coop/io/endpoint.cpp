#include "heddle/coop/io/endpoint.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace heddle::coop::io {

endpoint::endpoint(const sockaddr* address, socklen_t length) noexcept
    : length_(std::min<socklen_t>(length, sizeof storage_)) {
  std::memcpy(&storage_, address, length_);
}

endpoint endpoint::ip(std::string_view address, std::uint16_t port) {
  const std::string text(address);
  sockaddr_in four = {};
  if (inet_pton(AF_INET, text.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    return {reinterpret_cast<const sockaddr*>(&four), sizeof four};
  }
  sockaddr_in6 six = {};
  if (inet_pton(AF_INET6, text.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    return {reinterpret_cast<const sockaddr*>(&six), sizeof six};
  }
  throw std::invalid_argument("\"" + text +
                              "\" is no IP address; to connect by name, use service::connect()");
}

endpoint endpoint::local(std::string_view path) {
  sockaddr_un unix_socket = {};
  // The last byte is for the zero that ends a path.
  if (path.empty() || path.size() >= sizeof unix_socket.sun_path) {
    throw std::invalid_argument("the path of a Unix socket has 1 to " +
                                std::to_string(sizeof unix_socket.sun_path - 1) + " bytes, not " +
                                std::to_string(path.size()));
  }
  unix_socket.sun_family = AF_UNIX;
  std::memcpy(unix_socket.sun_path, path.data(), path.size());
  std::size_t length = offsetof(sockaddr_un, sun_path) + path.size() + 1;
  if (path.front() == '@') {
    unix_socket.sun_path[0] = '\0';
    --length;  // an abstract name is as long as it is said to be
  }
  return {reinterpret_cast<const sockaddr*>(&unix_socket), static_cast<socklen_t>(length)};
}

std::uint16_t endpoint::port() const noexcept {
  if (family() == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in&>(storage_).sin_port);
  }
  if (family() == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(storage_).sin6_port);
  }
  return 0;
}

std::string endpoint::text() const {
  char address[INET6_ADDRSTRLEN];
  if (family() == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(storage_).sin_addr, address,
              sizeof address);
    return std::string(address) + ':' + std::to_string(port());
  }
  if (family() == AF_INET6) {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(storage_).sin6_addr, address,
              sizeof address);
    return '[' + std::string(address) + "]:" + std::to_string(port());
  }
  constexpr socklen_t nameless = offsetof(sockaddr_un, sun_path);
  if (family() != AF_UNIX || length_ <= nameless) return "a socket without a name";
  const char* const path = reinterpret_cast<const sockaddr_un&>(storage_).sun_path;
  const std::size_t bytes = length_ - nameless;
  if (path[0] == '\0') return '@' + std::string(path + 1, bytes - 1);
  return {path, strnlen(path, bytes)};
}

}  // namespace heddle::coop::io
