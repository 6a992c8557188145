// Two threads, each on a processor of its own, that write and read a Unix socket as if they shared
// nothing: the messages that two processes exchange, without another process.
#include <sys/socket.h>

#include "harness/processors.hpp"
#include "harness/team.hpp"
#include "harness/throw_errno.hpp"
#include "workloads/group_speed/frames.hpp"
#include "workloads/group_speed/workload.hpp"

namespace heddle::lab::group_speed {
namespace {

void ask(problem& work, region& timed, int socket) {
  frame message{};
  timed.begin();
  for (std::int64_t i = 0; i < work.turns(); i += 2) {
    message.place = i;
    send(socket, message);
    if (!receive(socket, message)) throw std::runtime_error("the other thread is gone");
    work.take_turn(0, message.place - 1);
  }
  timed.end();
}

void answer(problem& work, int socket) {
  for (frame message{}; receive(socket, message);) {
    work.take_turn(1, ++message.place);
    send(socket, message);
  }
}

void run(problem& work, region& timed) {
  if (work.row() != "request") throw cannot_run("threads hand over by semaphores, see `thread`");
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw_errno("socketpair");
  run_on_threads(timed, 2, [&](int side) {
    pin_to_processor(side);
    if (side == 0) {
      ask(work, timed, ends[0]);
      shutdown(ends[0], SHUT_WR);
    } else {
      answer(work, ends[1]);
    }
  });
  close(ends[0]);
  close(ends[1]);
}

const model<problem> registered{"thread/socketpair", &run};

}  // namespace
}  // namespace heddle::lab::group_speed
