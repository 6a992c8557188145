// Aborts while strands wait in every way there is; before that it prints what dump() says.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "heddle/coop/await.hpp"
#include "heddle/coop/hybrid.hpp"
#include "heddle/coop/io/service.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/select.hpp"
#include "heddle/coop/sync/channel.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/sync/watched.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/wait_for.hpp"
#include "heddle/coop/yield.hpp"

using namespace heddle::coop;

namespace {

semaphore door(0, "a door with a long name, longer than a string holds in itself");
watched<int> left(0, "left");
watched<int> right(0, "right");

[[gnu::noinline]] void fiber_waits() {
  volatile int local = 1;
  await(door.P());  // of the fiber
  local = local + 1;
}
[[gnu::noinline]] void fiber_calls() {
  volatile int local = 1;
  fiber_waits();
  local = local + 1;
}

task<> task_waits() { co_await door.P(); }

}  // namespace

int main() {
  scheduler empty;
  scheduler s;
  s.spawn(
      [] {
        volatile int local = 1;
        fiber_calls();
        local = local + 1;
      },
      "fiber");
  const auto joined = s.spawn([]() -> task<> { co_await task_waits(); }, "task");
  s.spawn([&]() -> task<> { co_await joined.join(); });
  s.spawn([] { await(wait_until([] { return left + right > 0; }, left, right)); });
  s.spawn([]() -> task<> { co_await wait_for([] { return false; }); }, "asks");
  s.spawn([] { await(sleep_for(std::chrono::hours(1))); }, "sleeper");
  s.spawn([]() -> task<> { co_await within(std::chrono::hours(1), door.P()); }, "limited");
  channel<int> requests(0, "requests");
  channel<int> quit(0, "quit");
  s.spawn([&]() -> task<> { co_await select(requests.pop(), quit.pop()); });
  int ends[2];
  if (pipe(ends) != 0) return 1;
  io::service files(s);
  const io::file from = files.adopt(ends[0], "the pipe");
  s.spawn([&] { static_cast<void>(await(from.read(io::buffer(1)))); });
  s.spawn([]() -> task<> {
    for (;;) co_await yield();
  });
  s.spawn(
      [&] {
        for (int i = 0; i < 3; ++i) await(yield());
        s.spawn([] {}, "new");
        std::fputs(s.dump().c_str(), stdout);
        std::fflush(stdout);
        std::abort();
      },
      "aborts");
  s.spawn(
      [] {
        volatile int local = 1;
        await(task_waits());
        local = local + 1;
      },
      "awaits a task");
  s.run();
}
