#include "workloads/http/redis.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "harness/in_path.hpp"
#include "harness/model.hpp"
#include "harness/processors.hpp"
#include "harness/throw_errno.hpp"
#include "workloads/http/back_end.hpp"
#include "workloads/http/listening.hpp"

namespace heddle::lab::http {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 10s;

// The server, or another of its names: what it is called by says what it is. Debian has that one
// in redis-tools, of which no service comes.
const char* find_redis() {
  for (const char* const each : {"redis-server", "redis-check-rdb"}) {
    if (in_path(each)) return each;
  }
  throw cannot_run("Redis is missing: `apt-get install redis-tools`");
}

[[noreturn]] void run_redis(const char* program, const std::string& port,
                            const std::string& clients) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    pin_to_processor(1);
  } catch (const std::exception&) {
    // The only processor is shared.
  }
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Without a file of settings: these are all.
  execlp(program, "redis-server", "--bind", "127.0.0.1", "--port", port.c_str(), "--save", "",
         "--appendonly", "no", "--daemonize", "no", "--dir", "/", "--maxclients", clients.c_str(),
         static_cast<char*>(nullptr));
  _exit(127);
}

// A connection, or -1 while no server listens.
int connect_to(const coop::io::endpoint& at) {
  const int fd = socket(at.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw_errno("socket(2)");
  if (connect(fd, at.address(), at.length()) == 0) return fd;
  close(fd);
  return -1;
}

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

// Whether it is Redis, and has taken all the values.
bool fill(int redis) {
  std::string questions;
  std::string answers;
  for (std::int64_t i = 0; i < back_end_process::kept_keys; ++i) {
    const std::string key = back_end_process::key(i);
    questions += "*3\r\n" + bulk("SET") + bulk(key) + bulk(back_end_process::value_of(key));
    answers += "+OK\r\n";
  }
  const timeval limit = {.tv_sec = 1, .tv_usec = 0};
  setsockopt(redis, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (send(redis, questions.data(), questions.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(questions.size())) {
    return false;
  }
  std::string come(answers.size(), '\0');
  return recv(redis, come.data(), come.size(), MSG_WAITALL) == static_cast<ssize_t>(come.size()) &&
         come == answers;
}

}  // namespace

running_redis start_redis(std::int64_t askers) {
  const std::string clients = std::to_string(askers + 100);
  const char* const program = find_redis();
  const auto begun = std::chrono::steady_clock::now();
  running_redis one = {-1, {}};
  while (std::chrono::steady_clock::now() - begun < patience) {
    if (one.process < 0) {
      one.address = listening().address();  // free now; if another takes it, there is a next time
      one.process = fork();
      if (one.process < 0) throw_errno("fork(2)");
      if (one.process == 0) run_redis(program, std::to_string(one.address.port()), clients);
    }
    if (waitpid(one.process, nullptr, WNOHANG) == one.process) {
      one.process = -1;
      continue;
    }
    const int connection = connect_to(one.address);
    const bool ready = connection >= 0 && fill(connection);
    if (connection >= 0) close(connection);
    if (ready) return one;
    std::this_thread::sleep_for(2ms);
  }
  if (one.process > 0) {
    kill(one.process, SIGKILL);
    waitpid(one.process, nullptr, 0);
  }
  throw std::runtime_error("redis-server does not answer; `redis-server --port 0` may say why");
}

}  // namespace heddle::lab::http
