#include "workloads/http/back_end.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/throw_errno.hpp"
#include "workloads/http/listening.hpp"
#include "workloads/http/redis.hpp"
#include "workloads/http/stub.hpp"

namespace heddle::lab::http {

std::string back_end_process::value_of(std::string_view key) {
  return "the value of " + std::string(key);
}

back_end_process::back_end_process(kind what, std::int64_t askers) {
  if (what == kind::redis) {
    const running_redis begun = start_redis(askers);
    process_ = begun.process;
    address_ = begun.address;
    return;
  }
  const listening door;
  address_ = door.address();
  process_ = fork();
  if (process_ < 0) throw_errno("fork(2)");
  if (process_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  answer_as_redis(door.fd());
}

back_end_process::~back_end_process() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

}  // namespace heddle::lab::http
