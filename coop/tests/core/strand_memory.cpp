// Where strands are kept: the list of those alive, and the pool of their blocks and frames.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/coop/await.hpp"
#include "heddle/coop/detail/frame_pool.hpp"
#include "heddle/coop/detail/ready_queue.hpp"
#include "heddle/coop/detail/strand_registry.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/yield.hpp"

using namespace heddle::coop;
using detail::frame_pool;
using detail::ready_queue;
using detail::strand_block;
using detail::strand_registry;

TEST_CASE("the list of strands alive keeps order and numbers through any coming and going") {
  strand_registry all;
  std::vector<std::pair<std::uint64_t, std::unique_ptr<strand_block>>> expected;
  std::mt19937 random(1);
  std::uint64_t spawned = 0;
  const auto matches = [&] {
    std::size_t position = 0;
    bool same = true;
    all.for_each([&](const strand_registry::entry& each) {
      same = same && position < expected.size() && each.id == expected[position].first &&
             each.strand == expected[position].second.get() && all.id(*each.strand) == each.id;
      ++position;
    });
    return same && position == expected.size() && all.size() == expected.size();
  };
  // Grows to some thousands, shrinks, and grows again: entries are moved together on the way.
  for (const int percent_added : {70, 50, 20, 60}) {
    for (int step = 0; step < 4000; ++step) {
      if (expected.empty() || static_cast<int>(random() % 100) < percent_added) {
        auto block = std::make_unique<strand_block>(nullptr, detail::strand_kind::task);
        all.add(*block);
        expected.emplace_back(++spawned, std::move(block));
      } else {
        const auto ended =
            expected.begin() + static_cast<std::ptrdiff_t>(random() % expected.size());
        all.remove(*ended->second);
        expected.erase(ended);
      }
    }
    REQUIRE(matches());
    if (!expected.empty()) REQUIRE(&all.youngest() == expected.back().second.get());
  }
}

TEST_CASE("the ready strands keep their order, whoever is taken out of the middle") {
  ready_queue queue;
  std::vector<std::unique_ptr<strand_block>> all;
  for (int i = 0; i < 3000; ++i) {
    all.push_back(std::make_unique<strand_block>(nullptr, detail::strand_kind::task));
  }
  std::deque<strand_block*> expected;
  std::vector<strand_block*> others;
  for (const auto& each : all) others.push_back(each.get());
  std::mt19937 random(1);
  for (const int percent_added : {70, 40, 20, 60, 50}) {
    for (int step = 0; step < 6000; ++step) {
      const bool add = static_cast<int>(random() % 100) < percent_added;
      if (add && !others.empty()) {
        std::swap(others[random() % others.size()], others.back());
        queue.push(*others.back());
        expected.push_back(others.back());
        others.pop_back();
      } else if (!expected.empty() && random() % 2 == 0) {
        REQUIRE(queue.pop() == expected.front());
        others.push_back(expected.front());
        expected.pop_front();
      } else if (!expected.empty()) {
        const auto taken =
            expected.begin() + static_cast<std::ptrdiff_t>(random() % expected.size());
        REQUIRE(queue.holds(**taken));
        queue.remove(**taken);
        REQUIRE(!queue.holds(**taken));
        others.push_back(*taken);
        expected.erase(taken);
      }
    }
  }
  for (strand_block* const each : expected) REQUIRE(queue.pop() == each);
  CHECK(queue.pop() == nullptr);
}

TEST_CASE("strands that name each other while a third is ready leave no room behind") {
  ready_queue queue;
  strand_block waits(nullptr, detail::strand_kind::task);
  strand_block named(nullptr, detail::strand_kind::task);
  queue.push(waits);
  for (int i = 0; i < 1'000'000; ++i) {
    queue.push(named);
    queue.remove(named);
  }
  CHECK(queue.size_bound() <= 64);
  CHECK(queue.pop() == &waits);
  CHECK(queue.pop() == nullptr);
}

TEST_CASE("pieces of the pool do not overlap, on whichever thread they are freed") {
  struct piece {
    unsigned char* memory;
    std::size_t bytes;
    unsigned char mark;
  };
  std::vector<piece> pieces;
  const auto work = [&pieces](unsigned seed) {
    std::mt19937 random(seed);
    for (int step = 0; step < 3000; ++step) {
      if (pieces.empty() || random() % 100 < 55) {
        const std::size_t bytes = 1 + random() % 1500;  // some are too large for the pool
        auto* const memory = static_cast<unsigned char*>(frame_pool::allocate(bytes));
        // By the largest power of two that its size is a multiple of.
        const std::size_t aligned =
            std::clamp(bytes & (~bytes + 1), frame_pool::granularity, frame_pool::alignment);
        REQUIRE(reinterpret_cast<std::uintptr_t>(memory) % aligned == 0);
        const auto mark = static_cast<unsigned char>(random());
        std::memset(memory, mark, bytes);
        pieces.push_back({memory, bytes, mark});
      } else {
        std::swap(pieces[random() % pieces.size()], pieces.back());
        const piece freed = pieces.back();
        pieces.pop_back();
        bool intact = true;
        for (std::size_t i = 0; i < freed.bytes; ++i)
          intact = intact && freed.memory[i] == freed.mark;
        REQUIRE(intact);
        frame_pool::release(freed.memory, freed.bytes);
      }
    }
  };
  // One after the other: each frees what those before it allocated, and takes up what they left.
  for (unsigned seed = 0; seed < 4; ++seed) std::thread(work, seed).join();
  for (const piece& rest : pieces) frame_pool::release(rest.memory, rest.bytes);
}

TEST_CASE("a strand takes a cache line, and what its body holds") {
  const auto empty = [] {};
  CHECK(sizeof(detail::task_block<void, detail::no_body>) == 64);
  CHECK(sizeof(detail::fiber_block<std::decay_t<decltype(empty)>>) == 64);
}

// Strands of both kinds whose bodies hold so many words, all there at once; returns how many words
// others have overwritten.
template <std::size_t Words>
int spawn_holding(scheduler& s) {
  int overwritten = 0;
  const auto look = [&overwritten](const std::array<int, Words>& held, int number) {
    overwritten +=
        static_cast<int>(Words - static_cast<std::size_t>(std::ranges::count(held, number)));
  };
  for (int i = 0; i < 200; ++i) {
    std::array<int, Words> held;
    held.fill(i);
    s.spawn([held, i, &look] { look(held, i); });
    s.spawn([held, i, &look]() -> task<> {
      look(held, i);
      co_return;
    });
  }
  s.run();
  return overwritten;
}

TEST_CASE("the blocks of strands that have ended are reused for blocks of their size alone") {
  scheduler s;
  for (int round = 0; round < 3; ++round) {
    CHECK(spawn_holding<2>(s) == 0);
    CHECK(spawn_holding<6>(s) == 0);
    CHECK(spawn_holding<10>(s) == 0);
    CHECK(spawn_holding<300>(s) == 0);  // too large for the pool
  }
}

TEST_CASE("a strand can wait after another scheduler was destroyed in it") {
  scheduler outer;
  int destroyed = 0;
  bool went_on = false;
  outer.spawn([&] {
    {
      scheduler inner;
      inner.spawn([guard = std::unique_ptr<int, void (*)(int*)>(&destroyed,
                                                                [](int* count) { ++*count; })] {});
      await(yield());
    }
    await(yield());
    went_on = true;
  });
  outer.run();
  CHECK(destroyed == 1);
  CHECK(went_on);
}
