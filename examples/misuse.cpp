// Mistakes, and what is said of them: each ends by a message that names the strand and the cause.
//
//   build/examples/misuse deadlock
//
// Look at: names cost nothing until they are printed, so name strands and locks.
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "heddle/coop/await.hpp"
#include "heddle/coop/offload.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/sync/channel.hpp"
#include "heddle/coop/sync/mutex.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/watchdog.hpp"
#include "heddle/coop/yield.hpp"

namespace {

using namespace heddle::coop;
using namespace std::chrono_literals;

// Two locks, taken in two orders.
void deadlocks() {
  scheduler s;
  mutex left("left fork");
  mutex right("right fork");
  const auto eat = [](mutex& one, mutex& other) -> task<> {
    const auto first = co_await one.scoped_lock();
    co_await yield();
    const auto second = co_await other.scoped_lock();
  };
  s.spawn(eat(left, right), "Plato");
  s.spawn(eat(right, left), "Kant");
  s.run();
}

// A strand waits for a channel that nobody closes.
void waits_for_more() {
  scheduler s;
  channel<int> numbers(8, "numbers");
  s.spawn([&] { await(numbers.push(1)); }, "producer");
  s.spawn(
      [&] {
        while (await(numbers.pop())) {
        }
      },
      "consumer");
  s.run();
}

// An exception that nobody joins.
void fails_alone() {
  scheduler s;
  s.spawn([] { throw std::runtime_error("the disk is full"); }, "writer");
  s.run();
}

int sum_down(int depth) {
  volatile char room[512] = {};
  return depth == 0 ? room[0] : sum_down(depth - 1) + room[511];
}

void overflows() {
  scheduler s;
  s.spawn(
      stack_size{16 * 1024}, [] { sum_down(1000); }, "recursive");
  s.run();
}

void awaits_twice() {
  scheduler s;
  s.spawn(
      []() -> task<> {
        task<> once = []() -> task<> { co_return; }();
        co_await std::move(once);
        co_await std::move(once);
      },
      "twice");
  s.run();
}

// A call that blocks holds up the others; offload() is for those.
void blocks() {
  scheduler s;
  bool told = false;
  const watchdog barks(s, 50ms, [&](const held_up& what) {
    std::cerr << "strand " << what.strand << " \"" << what.name << "\" holds up the others\n";
    told = true;
  });
  s.spawn([] { std::this_thread::sleep_for(500ms); }, "sleeper");
  s.run();
}

// A call on a thread of a pool is in no strand, and cannot wait.
void waits_in_a_call() {
  scheduler s;
  s.spawn([] { await(offload([] { await(sleep_for(1s)); })); }, "caller");
  s.run();
}

void spawns_from_a_thread() {
  scheduler s;
  std::thread([&] { s.run(); }).join();
}

const std::map<std::string, std::function<void()>> mistakes = {
    {"deadlock", deadlocks},      {"open-channel", waits_for_more}, {"failure", fails_alone},
    {"overflow", overflows},      {"awaited-twice", awaits_twice},  {"blocking", blocks},
    {"offload", waits_in_a_call}, {"thread", spawns_from_a_thread},
};

}  // namespace

int main(int argc, char** argv) {
  const auto chosen = argc == 2 ? mistakes.find(argv[1]) : mistakes.end();
  if (chosen == mistakes.end()) {
    std::cerr << "usage: misuse MISTAKE, one of\n";
    for (const auto& [name, _] : mistakes) std::cerr << "  " << name << '\n';
    return 2;
  }
  try {
    chosen->second();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
  }
}
