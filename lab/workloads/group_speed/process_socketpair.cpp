// Two processes that write and read a Unix socket, nothing else: what a link between processes is
// made of. The messages are as long as the link's frames.
#include <array>

#include "workloads/group_speed/child.hpp"
#include "workloads/group_speed/workload.hpp"

namespace heddle::lab::group_speed {
namespace {

struct frame {
  std::array<std::uint64_t, 2> head;  // as a link's: length, kind, number
  std::int64_t place;
};

// False once the other one has ended.
bool receive(int socket, frame& to) {
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

void send(int socket, const frame& from) {
  // So short that the kernel takes all or nothing.
  while (write(socket, &from, sizeof from) != static_cast<ssize_t>(sizeof from)) {
    if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "cannot write the socket");
    }
  }
}

void serve(int socket) {
  for (frame message{}; receive(socket, message);) {
    ++message.place;
    send(socket, message);
  }
}

void run(problem& work, region& timed) {
  if (work.row() != "request")
    throw cannot_run("processes share no memory here: they can only ask");
  timed.kernel_threads(2);
  child other(&serve);
  frame message{};
  timed.begin();
  for (std::int64_t i = 0; i < work.turns(); i += 2) {
    message.place = i;
    send(other.socket(), message);
    if (!receive(other.socket(), message)) throw std::runtime_error("the other process is gone");
    work.take_turn(0, message.place - 1);
    work.take_turn(1, message.place);
  }
  timed.end();
  other.wait();
}

const model<problem> registered{"process/socketpair", &run};

}  // namespace
}  // namespace heddle::lab::group_speed
