// The examples of docs/library.md on contexts and calls that block.
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>

#include "heddle/coop/offload.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/strand_context.hpp"
#include "heddle/coop/strand_local.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/watchdog.hpp"
#include "heddle/coop/when_tasks.hpp"
#include "heddle/coop/yield.hpp"

using namespace heddle::coop;
using namespace std::chrono_literals;

namespace {

const context_key<std::string> request_id;
std::string printed;

task<int> ask(std::string whom) {
  const std::string* const id = strand_context::current().find(request_id);
  printed += (id != nullptr ? *id : "?") + " asks " + whom + '\n';
  co_await sleep_for(whom == "left" ? 1s : *id == "slow" ? 1h : 1500ms);
  co_return 21;
}

task<int> ask_all() {
  auto [a, b] = co_await when_all(ask("left"), ask("right"));
  co_return a + b;
}

task<> serve(std::string id) {
  const strand_context request = strand_context::current().with(request_id, id).with_timeout(2s);
  const auto answer = co_await in_context(request, ask_all());
  printed += id + ": " + (answer ? std::to_string(*answer) : request.error().message()) + '\n';
}

}  // namespace

TEST_CASE("docs: requests in contexts with a deadline and a value") {
  printed.clear();
  scheduler s({.clock = clock_policy::simulated});
  s.spawn(serve("fast"));
  s.run();
  s.spawn(serve("slow"));
  s.run();
  CHECK(printed ==
        "fast asks left\nfast asks right\nfast: 42\n"
        "slow asks left\nslow asks right\nslow: Connection timed out\n");
  CHECK(s.now() == time_point(3500ms));
}

TEST_CASE("docs: calls that block, and who does") {
  scheduler s;
  const watchdog barks(s);
  const strand_local<int> depth(0);
  std::string row;
  s.spawn([&]() -> task<> {
    row = co_await offload([] { return std::string("7"); });
    thread_pool two(2);
    co_await offload(two, [&] { row += '8'; });
    row += std::to_string(++*depth);
  });
  s.run();
  CHECK(row == "781");
}
