#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::coop::io {

/// Where a socket listens, connects to, sends to or receives: an IP address with a port, or a Unix
/// socket.
class endpoint {
 public:
  /// "127.0.0.1" or "::1", and a port in host byte order; 0: the kernel chooses one. Throws
  /// std::invalid_argument for what is no numeric address: names are for service::connect().
  [[nodiscard]] static endpoint ip(std::string_view address, std::uint16_t port);
  /// A Unix socket by its path; "@name" is in Linux's abstract namespace (unix(7)). Throws
  /// std::invalid_argument if the path is empty or longer than 107 bytes.
  [[nodiscard]] static endpoint local(std::string_view path);
  /// The address as system calls give it.
  endpoint(const sockaddr* address, socklen_t length) noexcept;
  /// None.
  endpoint() noexcept = default;

  [[nodiscard]] int family() const noexcept { return storage_.ss_family; }
  /// The port of an IP address, otherwise 0.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// "127.0.0.1:80", "[::1]:80", "/run/app.sock", "@name".
  [[nodiscard]] std::string text() const;

  [[nodiscard]] const sockaddr* address() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage_);
  }
  [[nodiscard]] socklen_t length() const noexcept { return length_; }

 private:
  sockaddr_storage storage_ = {};
  socklen_t length_ = sizeof(sa_family_t);
};

}  // namespace heddle::coop::io
