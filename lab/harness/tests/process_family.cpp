#include "harness/process_family.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <map>
#include <optional>
#include <stdexcept>

using namespace heddle::lab;

namespace {

std::int64_t cpu_ns(clockid_t clock) {
  timespec used;
  REQUIRE(clock_gettime(clock, &used) == 0);
  return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

// A child that has used 20 ms and waits.
class child {
 public:
  child() : process_(fork()) {
    if (process_ == 0) {
      for (;;) {
        if (clock() > CLOCKS_PER_SEC / 50) pause();
      }
    }
    REQUIRE(clock_getcpuclockid(process_, &clock_) == 0);
    while (cpu_ns(clock_) < ms(20)) usleep(1000);
  }
  ~child() { end(); }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  [[nodiscard]] pid_t process() const { return process_; }
  // Its processor time in all.
  std::int64_t end() {
    if (ended_) return 0;
    ended_ = true;
    kill(process_, SIGKILL);
    rusage used;
    REQUIRE(wait4(process_, nullptr, 0, &used) == process_);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1'000'000'000 +
           (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1'000;
  }
  static constexpr std::int64_t ms(std::int64_t count) { return count * 1'000'000; }

 private:
  pid_t process_;
  clockid_t clock_ = 0;
  bool ended_ = false;
};

}  // namespace

TEST_CASE("a process's family is its children and theirs, whoever of them has gone meanwhile") {
  const std::map<pid_t, std::optional<std::vector<pid_t>>> tree = {
      {1, {{2, 3, 4}}}, {2, {}}, {3, {{5}}}, {4, {{6}}}, {5, {{}}}};
  const auto children = [&](pid_t process) { return tree.at(process); };
  CHECK(family(1, {4}, children) == std::vector<pid_t>{1, 2, 3, 5});
  CHECK_THROWS_AS(static_cast<void>(family(2, {}, children)), std::runtime_error);
}

TEST_CASE("the kernel says whose children processes are") {
  child one;
  CHECK(family(getpid(), {}) == std::vector<pid_t>{getpid(), one.process()});
  CHECK(family(getpid(), {one.process()}) == std::vector<pid_t>{getpid()});
  one.end();
  CHECK_FALSE(children_of(one.process()));
  CHECK(family(getpid(), {}) == std::vector<pid_t>{getpid()});
}

TEST_CASE("a process that ends while processor times are read is counted once") {
  enum class ends { before_the_list, after_the_list, after_its_clock };
  for (const ends when : {ends::before_the_list, ends::after_the_list, ends::after_its_clock}) {
    CAPTURE(when);
    child stays;
    child goes;
    std::int64_t ended = 0;
    int looks = 0;
    const auto alive = [&]() -> std::vector<pid_t> {
      if (++looks > 1) return {stays.process()};
      if (when != ends::after_its_clock) ended = goes.end();
      if (when == ends::before_the_list) return {stays.process()};
      return {stays.process(), goes.process()};
    };
    const auto gone = [&] {
      if (when == ends::after_its_clock && looks == 1) ended += goes.end();
      return ended;
    };
    const std::int64_t sum = family_cpu_ns(alive, gone);
    CHECK(looks == 2);
    CHECK(sum >= 2 * child::ms(20) - child::ms(1));
    CHECK(sum < 3 * child::ms(20));
  }
}
