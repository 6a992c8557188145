#include <doctest/doctest.h>

#include <cerrno>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "workloads/idle/workload.hpp"

namespace heddle::lab::idle_oracle_test {

// Three strands: `early` of them ended before the others were let go, `alive` waited at once, and
// `altogether` ended in all.
verdict run(std::int64_t early, std::int64_t alive, std::int64_t altogether, int error = 0) {
  const parameters values(idling::problem::declare());
  idling::problem work(values.with("strands", 3));
  work.measure_empty();
  work.ended(early);
  if (error != 0) work.refused(error);
  work.measure_full(alive);
  for (std::int64_t i = early; i < altogether; ++i) work.ended();
  return work.check();
}

TEST_CASE("the oracle of idle wants all strands to wait at once, or a reason") {
  CHECK(run(0, 3, 3).ok);
  CHECK_FALSE(run(1, 3, 3).ok);
  CHECK_FALSE(run(0, 3, 2).ok);
  CHECK_FALSE(run(0, 2, 2).ok);
  CHECK(run(0, 2, 2, EAGAIN).ok);
  CHECK(run(0, 2, 2, EAGAIN).checked.find("Resource temporarily unavailable") != std::string::npos);
  CHECK_FALSE(run(0, 0, 0, EAGAIN).ok);
}

double number(const json_object& of, const std::string& name) {
  const std::string text = of.text();
  const std::size_t at = text.find('"' + name + "\":");
  return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 3));
}

TEST_CASE("what the kernel keeps of a thread is in its memory") {
  const parameters values(idling::problem::declare());
  idling::problem work(values.with("strands", 64));
  work.measure_empty();
  std::latch let_go(1);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 64; ++i) threads.emplace_back([&] { let_go.wait(); });
  work.measure_full(64);
  let_go.count_down();
  results out;
  work.report(region(), out, {});
  const double kernel_stack = number(out.counters, "kernel_stack_bytes");
  // Two pages at least in every kernel of ours, four on x86-64.
  CHECK(kernel_stack >= 8192);
  CHECK(number(out.metrics, "strand_bytes") >= number(out.metrics, "rss_bytes") + kernel_stack);
}

}  // namespace heddle::lab::idle_oracle_test
