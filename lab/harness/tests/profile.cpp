#include "harness/profile.hpp"

#include <doctest/doctest.h>
#include <time.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "harness/sampler.hpp"

namespace heddle::lab::profile_test {

using namespace std::chrono_literals;

double thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

[[gnu::noinline]] void spin_here(int turns) {
  for (volatile int i = 0; i < turns;) i = i + 1;
}
[[gnu::noinline]] void spin_there(int turns) {
  for (volatile int i = 0; i < turns;) i = i + 1;
}

/// Null, and a message, where the kernel permits no sampling.
std::unique_ptr<sampler> try_sampler(sampler::duration period = 100us) {
  try {
    return std::make_unique<sampler>(period);
  } catch (const cannot_run& why) {
    MESSAGE("not tested: " << why.what());
    return nullptr;
  }
}

/// The samples in functions with this in their name.
double samples_in(const samples& taken, std::string_view name) {
  std::vector<std::uintptr_t> addresses;
  for (const auto& [address, count] : taken.at) addresses.push_back(address);
  std::uint64_t sum = 0;
  for (const auto& [address, place] : places_of(addresses)) {
    for (const code_frame& frame : place) {
      if (frame.function.find(name) == frame.function.npos) continue;
      sum += taken.at.at(address);
      break;
    }
  }
  return static_cast<double>(sum);
}

TEST_CASE("a function has as many samples as it has processor time") {
  const std::unique_ptr<sampler> sampling = try_sampler();
  if (sampling == nullptr) return;
  double here = 0;
  double there = 0;
  double now = thread_cpu_ns();
  const double given_up = now + 30e9;
  sampling->start();
  // By turns, one to two, of different lengths, so that they are not in step with the samples.
  for (int turn = 0; sampling->taken().count() < 2000 && now < given_up; ++turn) {
    const int turns = 10'000 + 997 * (turn % 101);
    const double begin = thread_cpu_ns();
    spin_here(turns);
    const double between = thread_cpu_ns();
    spin_there(2 * turns);
    now = thread_cpu_ns();
    here += between - begin;
    there += now - between;
  }
  sampling->stop();
  const samples taken = sampling->taken();
  CHECK(taken.lost == 0);
  const double found_here = samples_in(taken, "spin_here");
  const double found = found_here + samples_in(taken, "spin_there");
  const double share = here / (here + there);
  CAPTURE(share);
  CAPTURE(found_here);
  CAPTURE(found);
  REQUIRE(found >= 100);
  // Five standard deviations of a binomial distribution: one failure in a million.
  CHECK(std::abs(found_here - share * found) < 5 * std::sqrt(found * share * (1 - share)));
}

TEST_CASE("threads that start later are sampled, too") {
  const std::unique_ptr<sampler> sampling = try_sampler();
  if (sampling == nullptr) return;
  sampling->start();
  std::jthread([&] {
    const double given_up = thread_cpu_ns() + 30e9;
    while (sampling->taken().count() < 100 && thread_cpu_ns() < given_up) spin_there(1'000'000);
  }).join();
  sampling->stop();
  CHECK(samples_in(sampling->taken(), "spin_there") > 0);
}

TEST_CASE("it is noticed that there was no room for further samples") {
  const std::unique_ptr<sampler> sampling = try_sampler(20us);
  if (sampling == nullptr) return;
  const double given_up = thread_cpu_ns() + 30e9;
  sampling->start();
  while (sampling->taken().lost == 0 && thread_cpu_ns() < given_up) spin_here(10'000'000);
  sampling->stop();
  CHECK(sampling->taken().lost > 0);
}

TEST_CASE("a function's name is told from its result and its arguments") {
  const std::map<std::string, std::string> names{
      {"main", "main"},
      {"heddle::lab::count()", "heddle::lab::count"},
      {"unsigned long heddle::lab::work_loop<heddle::lab::{lambda()#1} const&>(unsigned long, "
       "long, "
       "heddle::lab::{lambda()#1} const&)",
       "heddle::lab::work_loop"},
      {"decltype(auto) heddle::coop::await<heddle::coop::semaphore::p_awaitable>("
       "heddle::coop::semaphore::p_awaitable&&)",
       "heddle::coop::await"},
      {"heddle::lab::processes<std::chrono::duration<long, std::ratio<1l, 1000l> > "
       ">::semaphore::P()",
       "heddle::lab::processes::semaphore::P"},
      {"heddle::coop::ready_queue::empty() const", "heddle::coop::ready_queue::empty"},
      {"a::run(int)::{lambda(int)#2}::operator()(int) const", "a::run::{lambda#2}::operator()"},
      {"bool a::operator< <int>(b<int> const&, b<int> const&)", "a::operator<"},
      {"a::wake(b&) [clone .cold]", "a::wake"},
  };
  for (const auto& [demangled, name] : names) CHECK(plain_name(demangled) == name);
}

TEST_CASE("code belongs to the innermost function that has an activity") {
  const code_frame dine{
      "void heddle::lab::philosophers::dine<std::deque<heddle::lab::posix_semaphore>, int>(int)",
      "/h/lab/workloads/philosophers/by_semaphores.hpp:21"};
  const code_frame work{"unsigned long heddle::lab::work_loop<int>(unsigned long, long, int)", {}};
  const code_frame v{"heddle::coop::semaphore::V()", {}};
  const code_frame until{"until<(anonymous namespace)::run()>", "/h/lab/harness/waiting.hpp:50"};
  const code_frame await{"await<heddle::coop::wait_for_awaitable<int> >",
                         "/h/include/heddle/coop/await.hpp:20"};
  CHECK(activity_at({work, dine}) == activity::work);
  CHECK(activity_at({{"heddle::coop::detail::slice_flag_is_set()", {}}, work, dine}) ==
        activity::checkpoints);
  CHECK(activity_at({{"heddle::coop::detail::wait_list::empty() const", {}}, v, dine}) ==
        activity::semaphores);
  CHECK(activity_at({{"heddle::coop::detail::ready_queue::push(int&)", {}}, v, dine}) ==
        activity::switches);
  CHECK(activity_at({{"void heddle::coop::await<heddle::coop::wait_for_awaitable<int> >(int)", {}},
                     dine}) == activity::waits);
  CHECK(activity_at({await, until, dine}) == activity::waits);
  CHECK(activity_at({{"heddle::coop::parallel::semaphore::take()", {}},
                     {"bool heddle::coop::parallel::group::spin_for<int>(int const&)", {}},
                     dine}) == activity::waits);
  CHECK(activity_at({{"std::vector<int>::size() const", {}}, dine}) == activity::program);
  CHECK(activity_at({{"sem_post", {}}}) == activity::semaphores);
  CHECK(activity_at({{"malloc", {}}}) == activity::other);
  CHECK(activity_at({}) == activity::other);
}

TEST_CASE("a profile of lost samples, or of none, is an error") {
  samples lost;
  lost.in_kernel = 7;
  lost.lost = 1;
  CHECK_THROWS_WITH((void)profile(lost), doctest::Contains("after 7 samples there was no room"));
  CHECK_THROWS_WITH((void)profile(samples{}), doctest::Contains("before the first sample"));
}

TEST_CASE("shares and times of a profile add up") {
  samples taken;
  taken.in_kernel = 30;
  taken.at[reinterpret_cast<std::uintptr_t>(&spin_here)] = 10;
  const profile found(taken);
  CHECK(found.all_samples() == 40);
  CHECK(found.samples_in(activity::kernel) == 30);
  results out;
  found.report(1000, out);
  CHECK(out.counters.text().find("\"percent_in_kernel\": 75") != std::string::npos);
  CHECK(out.metrics.text().find("\"in_kernel_ns\": 750") != std::string::npos);
  CHECK(out.metrics.text().find("\"percent_besides_kernel\": 25") != std::string::npos);
  CHECK(out.metrics.text().find("\"besides_semaphores_ns\": 1000") != std::string::npos);
}

}  // namespace heddle::lab::profile_test
