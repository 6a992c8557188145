#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heddle/coop/detail/frame_pool.hpp"
#include "heddle/coop/ext/operation.hpp"
#include "heddle/coop/io/endpoint.hpp"
#include "operation_queue.hpp"

namespace heddle::coop::io::detail {

/// The state of a file that becomes readable and writable: a socket, a signalfd, a pidfd.
struct polled_state final : file_state {
  /// The peer has ended its direction, or the connection is dead: reading does not wait any more.
  bool hung_up = false;
  /// Fewer bytes than asked for mean that there are no more now. So with TCP; not with Unix
  /// sockets, whose reads also end where file descriptors were sent.
  bool short_is_empty = false;
  bool nonblocking = false;  // the descriptor is O_NONBLOCK
  bool watched = false;      // by epoll
  bool exclusive = false;    // a listener that no other process or thread accepts from
  operation_queue waiting[2];
  std::uint64_t shortages = 0;  // of a listener: how often no descriptor was left

  polled_state(core* its_owner, std::string its_name, int its_fd = -1) {
    owner = its_owner;
    name = std::move(its_name);
    fd = its_fd;
    prompt = false;
    polled = true;
    may[inward] = may[outward] = true;
  }

  static void* operator new(std::size_t bytes) { return coop::detail::frame_pool::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    coop::detail::frame_pool::release(memory, bytes);
  }
};

inline polled_state& polled(file_state& state) noexcept {
  return static_cast<polled_state&>(state);
}
inline polled_state& polled(const operation& request) noexcept {
  return polled(*request.file.get());
}

/// The arguments of a send from several buffers: the kernel's description, and the memory.
struct gathered {
  msghdr header = {};
  std::vector<iovec> pieces;   // what is left
  std::vector<buffer> pinned;  // what they point into

  /// So many more bytes have gone.
  void skip(std::size_t bytes) noexcept;
};

/// The arguments of a datagram's receive or send: the kernel's description, and the sender's or
/// receiver's address.
struct envelope {
  msghdr header = {};
  iovec content = {};
  sockaddr_storage address;

  explicit envelope(const buffer& memory) noexcept : content{memory.data(), memory.size()} {
    header.msg_iov = &content;
    header.msg_iovlen = 1;
  }
  envelope(const envelope&) = delete;
  envelope& operator=(const envelope&) = delete;

  static void* operator new(std::size_t bytes) { return coop::detail::frame_pool::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    coop::detail::frame_pool::release(memory, bytes);
  }
};

/// Where a connect leads to: some addresses, tried one after the other.
struct connecting {
  std::vector<endpoint> addresses;
  std::size_t next = 0;  // of them, to be tried
  std::string host;      // to be looked up first, if not empty
  std::uint16_t port = 0;

  [[nodiscard]] const endpoint& present() const noexcept { return addresses[next - 1]; }
};

/// Reads and sets the options of a stream socket that was just made.
void prepare_stream(polled_state& socket, int family, int fd) noexcept;

/// Makes the operation's system call, which does not wait: returns what it returned, or -errno;
/// -EAGAIN if it would have to wait. The descriptor is non-blocking, unless the call itself says
/// that it does not wait.
long call_now(operation& wanted) noexcept;
inline bool says_not_to_wait(const operation& wanted) noexcept {
  return wanted.what == verb::receive || wanted.what == verb::send || wanted.moves_datagram();
}

}  // namespace heddle::coop::io::detail
