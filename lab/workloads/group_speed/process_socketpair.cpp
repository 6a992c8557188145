// Two processes that write and read a Unix socket, nothing else: what a link between processes is
// made of. The messages are as long as the link's frames.
#include "workloads/group_speed/child.hpp"
#include "workloads/group_speed/frames.hpp"
#include "workloads/group_speed/workload.hpp"

namespace heddle::lab::group_speed {
namespace {

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
