#include "harness/processes.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <string>

#include "harness/group_processes.hpp"

namespace heddle::lab {

TEST_CASE("slices that are counted end after as many checkpoints, and at the P operations") {
  std::string order;
  const std::uint64_t before = count().strand_switches;
  {
    processes<coop::checkpoints> all(coop::checkpoints{3});
    processes<coop::checkpoints>::semaphore free(1);
    for (const char name : {'a', 'b'}) {
      all.spawn([&, name] {
        for (int i = 0; i < 4; ++i) {
          order += name;
          processes<coop::checkpoints>::checkpoint();
        }
        free.P();
        free.V();
      });
    }
    all.run();
  }
  // Ten checkpoints: eight of loops, and one before each P.
  CHECK(order == "aaabbbab");
  CHECK(count().strand_switches - before == 3);
}

TEST_CASE("processes on two processors are there by turns, or where they are told to be") {
  std::array<std::size_t, 6> at{};
  {
    group_processes all(2, coop::duration(1'000'000));
    const auto note = [&](std::size_t who) {
      return [&at, who] { at[who] = coop::parallel::group::current()->index(); };
    };
    for (std::size_t who = 0; who < 4; ++who) all.spawn(note(who));
    for (std::size_t who = 4; who < 6; ++who) all.spawn_at(1, note(who));
    all.run();
  }
  CHECK(at == std::array<std::size_t, 6>{0, 1, 0, 1, 1, 1});
}

TEST_CASE(
    "processes on two processors exclude each other by semaphores, switched at any checkpoint") {
  constexpr long each = 20'000;
  long inside = 0;
  long most = 0;
  long done = 0;
  const counters before = counted_so_far();
  {
    group_processes all(2, coop::duration(20'000));
    group_processes::semaphore mutex(1);
    for (int who = 0; who < 6; ++who) {
      all.spawn([&] {
        for (long i = 0; i < each; ++i) {
          mutex.P();
          most = ++inside > most ? inside : most;
          group_processes::checkpoint();
          --inside;
          ++done;
          mutex.V();
        }
      });
    }
    all.run();
  }
  CHECK(most == 1);
  CHECK(done == 6 * each);
  counters used = counted_so_far();
  used -= before;
  CHECK(used.p_operations == 6 * each);
  CHECK(used.strand_switches >= used.blocked_p_operations);
}

}  // namespace heddle::lab
