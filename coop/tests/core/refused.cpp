// With REFUSED=n, for n from 1 on, it does not compile, and the library says why:
// tests/CMakeLists.txt has the words. With 0 it does.
#include <mutex>
#include <shared_mutex>

#include "heddle/coop/await.hpp"
#include "heddle/coop/hybrid.hpp"
#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/move_to.hpp"
#include "heddle/coop/parallel/mutex.hpp"
#include "heddle/coop/sync/mutex.hpp"
#include "heddle/coop/sync/rw_lock.hpp"
#include "heddle/coop/yield.hpp"

using namespace heddle::coop;

void limited([[maybe_unused]] parallel::group& there, [[maybe_unused]] strand_ref other) {
  constexpr duration second = std::chrono::seconds(1);
#if REFUSED == 1
  await(within(second, parallel::move_to(there)));
#elif REFUSED == 2
  await(within(second, yield()));
#elif REFUSED == 3
  await(within(second, yield_to(other)));
#else
  await(within(second, sleep_for(second)));  // that the rest of it compiles
#endif
}

void locked([[maybe_unused]] heddle::coop::mutex& one, [[maybe_unused]] rw_lock& many,
            [[maybe_unused]] parallel::mutex& shared) {
#if REFUSED == 4
  const std::lock_guard guard(one);
#elif REFUSED == 5
  const std::lock_guard guard(many);
#elif REFUSED == 6
  const std::shared_lock guard(many);
#elif REFUSED == 7
  const std::lock_guard guard(shared);
#elif REFUSED == 8
  const std::unique_lock guard(one);
#elif REFUSED == 9
  const std::scoped_lock guard(one, shared);
#else
  const auto guard = await(one.scoped_lock());
  const std::unique_lock tried(shared, std::try_to_lock);  // which does not wait
#endif
}

void joined([[maybe_unused]] strand<> handle, [[maybe_unused]] task<> lvalue) {
#if REFUSED == 10
  await(handle);
#elif REFUSED == 11
  await(lvalue);
#elif REFUSED == 12
  await(std::suspend_always{});
#else
  await(handle.join());
  await(std::move(lvalue));
#endif
}

task<> awaited(strand<> handle, task<> lvalue) {
#if REFUSED == 13
  co_await handle;
#elif REFUSED == 14
  co_await lvalue;
#else
  co_await handle.join();
  co_await std::move(lvalue);
#endif
}

void scoped(scheduler& s) {
#if REFUSED == 15
  in_scope(s, [](scope all) { all.spawn([] {}); });
#elif REFUSED == 16
  in_scope(s, [] {});
#else
  in_scope(s, [](scope& all) { all.spawn([] {}); });
#endif
}
