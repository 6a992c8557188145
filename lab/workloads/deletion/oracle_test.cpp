#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <semaphore>
#include <thread>

#include "workloads/deletion/workload.hpp"

namespace heddle::lab::deletion_oracle_test {

using deleting::fate;
using deleting::fate_of;

// Two contexts of three yields each; what is left of them is up to the arguments.
verdict run(int contexts, bool promises, bool leaves_a_thread, std::string_view message) {
  const parameters values(deleting::problem::declare());
  deleting::problem work(values.with("contexts", 2));
  if (promises) work.promise_to_unwind();
  work.count_threads_before();
  std::binary_semaphore gate(0);
  std::jthread left;
  if (leaves_a_thread) left = std::jthread([&] { gate.acquire(); });
  for (int i = 0; i < contexts; ++i) work.context([] {});
  work.count_threads_after();
  gate.release();
  work.small_stack(true, message);
  return work.check();
}

constexpr std::string_view said = "1024 bytes is too small";

TEST_CASE("the oracle of deletion wants what was promised") {
  CHECK(run(2, true, false, said).ok);
  CHECK_FALSE(run(1, true, false, said).ok);
  CHECK_FALSE(run(3, true, false, said).ok);
  CHECK_FALSE(run(2, true, true, said).ok);
  CHECK_FALSE(run(2, true, false, "no").ok);
  CHECK(run(2, false, true, "no").ok);
}

TEST_CASE("the fate of a process is known, that it never ends, too") {
  CHECK(fate_of([] {}) == fate::returned);
  CHECK(fate_of([] { std::abort(); }) == fate::aborted);
  CHECK(fate_of([] { std::binary_semaphore(0).acquire(); }) == fate::hangs);
  CHECK(fate_of([] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }) ==
        fate::returned);
}

}  // namespace heddle::lab::deletion_oracle_test
