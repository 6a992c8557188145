#include "harness/syscalls.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <thread>

using heddle::lab::count_syscalls;

namespace {

void call(int times) {
  for (int i = 0; i < times; ++i) syscall(SYS_getppid);
}

}  // namespace

TEST_CASE("system calls are counted exactly, in threads and child processes too") {
  CHECK(count_syscalls([] { call(300); }) - count_syscalls([] { call(100); }) == 200);
  const auto in_a_thread = [](int times) {
    return count_syscalls([times] { std::jthread(call, times).join(); });
  };
  const auto difference = in_a_thread(300) - in_a_thread(100);
  CHECK(difference >= 195);  // a join waits in the kernel, or need not
  CHECK(difference <= 205);
  const auto in_a_process = [](int times) {
    return count_syscalls([times] {
      const pid_t pid = fork();
      if (pid == 0) {
        call(times);
        _exit(0);
      }
      waitpid(pid, nullptr, 0);
    });
  };
  const auto surplus = static_cast<std::int64_t>(in_a_process(300) - in_a_process(100)) - 200;
#if defined(__SANITIZE_THREAD__)
  CHECK(surplus < 50);  // its own thread makes some now and then
  CHECK(surplus > -50);
#else
  CHECK(surplus == 0);
#endif
}

TEST_CASE("a traced child that fails is an error") {
  CHECK_THROWS_AS((void)count_syscalls([] { throw 1; }), std::runtime_error);
  CHECK_THROWS_AS((void)count_syscalls([] { raise(SIGKILL); }), std::runtime_error);
}
