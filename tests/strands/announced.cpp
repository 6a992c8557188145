// Fibers and tasks with names, which wait for one another: the recorder is told who runs, and why
// not.
#include <heddle/coop/await.hpp>
#include <heddle/coop/scheduler.hpp>
#include <heddle/coop/sync/semaphore.hpp>
#include <heddle/coop/task.hpp>
#include <heddle/coop/yield.hpp>

using namespace heddle::coop;

namespace {

void open_door(semaphore& door) {
  await(yield());
  await(sleep_for(std::chrono::hours(1)));
  door.V();
}

task<> go_through(semaphore& door) { co_await door.P(); }

}  // namespace

int main() {
  scheduler s({.clock = clock_policy::simulated});
  semaphore door(0, "door");
  const auto guest = s.spawn(go_through(door), "guest");
  s.spawn([&] { open_door(door); }, "porter");
  s.spawn([&]() -> task<> { co_await guest.join(); });
  s.run();
  s.spawn([&] { await(door.P()); }, "too late");
  s.spawn([]() -> task<> { co_return; });
  bool stuck = false;
  try {
    s.run();
  } catch (const deadlock&) {
    stuck = true;
  }
  return stuck ? 0 : 1;
}
