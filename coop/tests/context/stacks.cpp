// Stacks out of slabs: what they promise about room, neighbours, reuse and memory.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "context/stack_pool.hpp"
#include "heddle/coop/await.hpp"
#include "heddle/coop/context/stack.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/sync/semaphore.hpp"

using heddle::coop::stack;
using heddle::coop::stack_guard;
using heddle::coop::detail::guard_method;
using heddle::coop::detail::stack_pool;

TEST_CASE("a stack has the bytes that were asked for, all usable") {
  for (const stack_guard guard : {stack_guard::page, stack_guard::none}) {
    for (std::size_t bytes = stack::minimum_bytes; bytes <= 8u << 20; bytes *= 4) {
      CAPTURE(bytes);
      for (const std::size_t wanted : {bytes, bytes + 1, bytes + bytes / 2}) {
        const stack one(wanted, guard);
        REQUIRE(one.bytes() >= wanted);
        CHECK(reinterpret_cast<std::uintptr_t>(one.top()) % 64 == 0);
        std::memset(one.bottom(), 0x5a, one.bytes());
      }
    }
  }
}

TEST_CASE("a stack of an impossible size is refused") {
  CHECK_THROWS_AS(stack(stack::minimum_bytes - 1), std::invalid_argument);
  CHECK_THROWS_AS(stack(stack::maximum_bytes + 1), std::invalid_argument);
  CHECK_THROWS_AS(stack(SIZE_MAX), std::invalid_argument);
}

TEST_CASE("stacks do not overlap, and start at different cache lines") {
  for (const stack_guard guard : {stack_guard::page, stack_guard::none}) {
    for (const std::size_t bytes : {std::size_t{2048}, std::size_t{4096}, std::size_t{65536}}) {
      std::vector<stack> stacks;
      std::set<std::uintptr_t> lines;
      for (int i = 0; i < 64; ++i) {
        stacks.emplace_back(bytes, guard);
        lines.insert(reinterpret_cast<std::uintptr_t>(stacks.back().top()) % 4096);
      }
      CHECK(lines.size() >= 16);
      for (std::size_t i = 0; i < stacks.size(); ++i) {
        for (std::size_t k = 0; k < stacks.size(); ++k) {
          if (i != k) REQUIRE_FALSE(stacks[i].contains(stacks[k].bottom()));
        }
      }
    }
  }
}

TEST_CASE("the stack freed last is used first") {
  const std::byte* first = nullptr;
  const std::byte* second = nullptr;
  const stack kept(32 * 1024);
  {
    const stack a(32 * 1024);
    first = a.bottom();
    const stack b(32 * 1024);
    second = b.bottom();
  }
  const stack again(32 * 1024);
  CHECK(again.bottom() == first);
  const stack after(32 * 1024);
  CHECK(after.bottom() == second);
}

TEST_CASE("slabs go back to the kernel when their stacks are free") {
  stack_pool pool(guard_method::install);
  std::vector<stack_pool::piece> pieces;
  for (int i = 0; i < 5'000; ++i) pieces.push_back(pool.take(16 * 1024, stack_guard::page));
  const std::size_t full = pool.mapped_bytes();
  CHECK(full > 5'000 * 20 * 1024ul);
  for (const auto& piece : pieces) stack_pool::give_back(*piece.slab, piece.bottom);
  CHECK(pool.mapped_bytes() < 70ul << 20);  // one slab is kept
  CHECK(pool.mapped_bytes() < full);
  const auto piece = pool.take(16 * 1024, stack_guard::page);
  std::memset(piece.bottom, 1, static_cast<std::size_t>(piece.top - piece.bottom));
  stack_pool::give_back(*piece.slab, piece.bottom);
}

#if !defined(HEDDLE_TSAN)  // which needs mappings of its own for each
TEST_CASE("without MADV_GUARD_INSTALL there are as many stacks as mappings, and it is said") {
  std::size_t limit = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> limit;
  REQUIRE(limit != 0);
  if (limit > 200'000) {
    MESSAGE("skipped: vm.max_map_count is ", limit, ", which takes too long to reach");
    return;
  }
  stack_pool pool(guard_method::protect);
  std::vector<stack_pool::piece> pieces;
  std::string message;
  try {
    while (pieces.size() <= limit) pieces.push_back(pool.take(16 * 1024, stack_guard::page));
  } catch (const std::system_error& error) {
    message = error.what();
    CHECK(error.code() == std::errc::not_enough_memory);
  }
  CHECK(pieces.size() > limit / 2 - 2'000);
  CHECK(message.find("vm.max_map_count") != std::string::npos);
  const auto unguarded = pool.take(16 * 1024, stack_guard::none);  // are not bounded by it
  stack_pool::give_back(*unguarded.slab, unguarded.bottom);
  for (const auto& piece : pieces) stack_pool::give_back(*piece.slab, piece.bottom);
  CHECK(pool.mapped_bytes() < 70ul << 20);
}
#endif

#if !defined(HEDDLE_ASAN) && !defined(HEDDLE_TSAN)  // which have memory of their own for each

namespace {

/// A line of /proc/self/status, in bytes.
std::size_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == key + ":") {
      std::size_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes * 1024;
    }
  }
  throw std::runtime_error("/proc/self/status has no " + key);
}

std::size_t memory() { return status_bytes("VmRSS") + status_bytes("VmPTE"); }

}  // namespace

// A million in ./dev soak: HEDDLE_FIBERS says so.
TEST_CASE("guarded fibers by the hundred thousand are alive in little more than a page each") {
  const char* const wanted = std::getenv("HEDDLE_FIBERS");
  const int fibers = wanted != nullptr ? std::atoi(wanted) : 100'000;
  using namespace heddle::coop;
  scheduler s({.stack_bytes = 16 * 1024});
  semaphore all_there(0);
  semaphore go_on(0);
  int alive = 0;
  int ended = 0;
  std::size_t bytes = 0;
  const std::size_t before = memory();
  for (int i = 0; i < fibers; ++i) {
    s.spawn([&] {
      if (++alive == fibers) all_there.V();
      await(go_on.P());
      ++ended;
    });
  }
  s.spawn([&] {
    await(all_there.P());
    bytes = memory() - before;
    for (int i = 0; i < fibers; ++i) go_on.V();
  });
  s.run();
  CHECK(ended == fibers);
  MESSAGE(fibers, " fibers: ", bytes / static_cast<std::size_t>(fibers), " bytes each");
  CHECK(bytes / static_cast<std::size_t>(fibers) <= 4'403);  // 4.3 KB
}

#endif
