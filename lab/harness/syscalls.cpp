#include "harness/syscalls.hpp"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace heddle::lab {
namespace {

constexpr int cannot_trace = 77;

[[noreturn]] void child(const std::function<void()>& body) noexcept {
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(cannot_trace);
  raise(SIGSTOP);  // until the parent has set its options
  try {
    body();
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

bool at_entry(pid_t task) {
  __ptrace_syscall_info info{};
  const auto got = ptrace(PTRACE_GET_SYSCALL_INFO, task, sizeof info, &info);
  return got > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

[[noreturn]] void fail(const std::string& why) {
  throw std::runtime_error("system calls were not counted: " + why);
}

}  // namespace

std::uint64_t count_syscalls(const std::function<void()>& body) {
  const pid_t first = fork();
  if (first < 0) fail(std::strerror(errno));
  if (first == 0) child(body);

  int status = 0;
  if (waitpid(first, &status, 0) < 0) fail(std::strerror(errno));
  if (!WIFSTOPPED(status)) fail("ptrace is not permitted here");
  const auto options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                       PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, first, nullptr, options) != 0) {
    const int error = errno;
    kill(first, SIGKILL);
    waitpid(first, &status, 0);
    fail(std::strerror(error));
  }
  ptrace(PTRACE_SYSCALL, first, nullptr, nullptr);

  std::uint64_t calls = 0;
  int result = -1;
  for (;;) {
    const pid_t task = waitpid(-1, &status, __WALL);
    if (task < 0) break;  // no traced task is left
    if (!WIFSTOPPED(status)) {
      if (task == first) result = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      continue;
    }
    const int signal = WSTOPSIG(status);
    long deliver = 0;
    if (signal == (SIGTRAP | 0x80)) {
      if (at_entry(task)) ++calls;
    } else if (signal != SIGTRAP && signal != SIGSTOP) {
      deliver = signal;  // the program's own; SIGSTOP is how a new task begins
    }
    ptrace(PTRACE_SYSCALL, task, nullptr, deliver);
  }
  if (result != 0) fail("the traced child failed");
  return calls;
}

}  // namespace heddle::lab
