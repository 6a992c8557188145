#pragma once

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace heddle::lab::group_speed {

/// A message over a socket, as long as a link's frame.
struct frame {
  std::array<std::uint64_t, 2> head;  // as a link's: length, kind, number
  std::int64_t place;
};

/// False once the other one has ended.
inline bool receive(int socket, frame& to) {
  for (std::size_t got = 0; got < sizeof to;) {
    const ssize_t count = read(socket, reinterpret_cast<char*>(&to) + got, sizeof to - got);
    if (count == 0) return false;
    if (count > 0) {
      got += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "cannot read the socket");
    }
  }
  return true;
}

inline void send(int socket, const frame& from) {
  // So short that the kernel takes all or nothing.
  while (write(socket, &from, sizeof from) != static_cast<ssize_t>(sizeof from)) {
    if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "cannot write the socket");
    }
  }
}

}  // namespace heddle::lab::group_speed
