// Which mechanism is chosen, and what is said of it.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

#include "heddle/coop/await.hpp"
#include "helpers.hpp"

using heddle::coop::scheduler;

namespace {

// Forbids a system call to this process, as container runtimes do: it fails with EPERM.
bool forbid(int system_call) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(system_call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {4, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

std::size_t threads_here() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// The result of `said()` in a process where these system calls are forbidden.
template <class Said>
std::string where_forbidden(std::initializer_list<int> system_calls, const Said& said) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::string text;
    for (const int each : system_calls) {
      if (!forbid(each)) text = "no seccomp here";
    }
    if (text.empty()) text = said();
    const ssize_t written = write(ends[1], text.data(), text.size());
    _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char piece[256];
  for (ssize_t count; (count = read(ends[0], piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  return text;
}

std::string choice_here() {
  scheduler s;
  return io::service(s).choice();
}

struct environment_value {
  const char* name;
  explicit environment_value(const char* value, const char* its_name = "HEDDLE_IO")
      : name(its_name) {
    setenv(name, value, 1);
  }
  ~environment_value() { unsetenv(name); }
};

}  // namespace

TEST_CASE("where io_uring is forbidden, another mechanism is chosen, and says why") {
  const std::string aio = where_forbidden({SYS_io_uring_setup}, choice_here);
  const std::string threads = where_forbidden({SYS_io_uring_setup, SYS_io_setup}, choice_here);
  if (aio == "no seccomp here") {
    MESSAGE("not tested: " << aio);
    return;
  }
  CHECK(aio.find("linux_aio (io_uring: ") == 0);
  CHECK(threads.find("threads (io_uring: ") == 0);
  CHECK(threads.find("; linux_aio: io_setup(2): Operation not permitted)") != std::string::npos);
#if defined(HEDDLE_TEST_LIBURING)
  CHECK(aio ==
        "linux_aio (io_uring: forbidden by seccomp or kernel.io_uring_disabled: Operation not "
        "permitted)");
#endif
}

TEST_CASE("threads start with the first operation on a file, which fails if there can be none") {
  const auto after_an_open = [] {
    // A sanitizer starts one of its own with the program's first.
    try {
      std::thread([] {}).join();
    } catch (const std::system_error&) {
      // There can be none.
    }
    const std::size_t before = threads_here();
    scheduler s;
    const io::service files(s, {.only = io::mechanism::threads});
    std::string said = std::to_string(threads_here() - before) + ", then ";
    s.spawn([&] {
      const auto opened = heddle::coop::await(files.open("/dev/null", O_RDONLY));
      said += opened ? std::to_string(threads_here() - before) : opened.error().message();
    });
    s.run();
    return said;
  };
  CHECK(where_forbidden({}, after_an_open) == "0, then 1");
  const std::string said = where_forbidden({SYS_clone, SYS_clone3}, after_an_open);
  if (said == "no seccomp here") {
    MESSAGE("not tested: " << said);
    return;
  }
  CHECK(said == "0, then Resource temporarily unavailable");
}

TEST_CASE("a mechanism that was asked for, and does not work, is an error") {
  const std::string said = where_forbidden({SYS_io_setup}, [] {
    try {
      scheduler s;
      const io::service files(s, {.only = io::mechanism::linux_aio});
      return std::string("it works");
    } catch (const std::system_error& error) {
      return std::string(error.what());
    }
  });
  if (said == "no seccomp here") {
    MESSAGE("not tested: " << said);
    return;
  }
  CHECK(said == "linux_aio: io_setup(2): Operation not permitted");
}

TEST_CASE("HEDDLE_IO names the mechanism") {
  {
    const environment_value named("threads");
    CHECK(choice_here() == "threads (as asked)");
  }
  const environment_value unknown("io_ring");
  CHECK_THROWS_WITH_AS(
      choice_here(),
      "HEDDLE_IO is \"io_ring\", not io_uring, linux_aio or threads: correct it or unset it",
      std::invalid_argument);
}

TEST_CASE("HEDDLE_SOCKETS names how sockets are waited for, and epoll works everywhere") {
  const auto chosen = [](io::mechanism files) {
    scheduler s;
    return io::service(s, {.only = files}).socket_choice();
  };
  CHECK(chosen(io::mechanism::threads) == "epoll");
  {
    const environment_value named("epoll", "HEDDLE_SOCKETS");
    CHECK(chosen(io::mechanism::threads) == "epoll (as asked)");
  }
  {
    const environment_value named("io_uring", "HEDDLE_SOCKETS");
    CHECK_THROWS_WITH_AS(chosen(io::mechanism::threads),
                         "sockets by io_uring, where files are not: those are by threads (as "
                         "asked): Operation not supported",
                         std::system_error);
  }
  const environment_value unknown("select", "HEDDLE_SOCKETS");
  CHECK_THROWS_WITH_AS(
      chosen(io::mechanism::threads),
      "HEDDLE_SOCKETS is \"select\", not epoll or io_uring: correct it or unset it",
      std::invalid_argument);
}

TEST_CASE("a scheduler has one service at a time") {
  scheduler s;
  {
    const io::service first(s, {.only = io::mechanism::threads});
    CHECK_THROWS_AS(io::service(s, {.only = io::mechanism::threads}), std::logic_error);
  }
  const io::service next(s, {.only = io::mechanism::threads});
}
