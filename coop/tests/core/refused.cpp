// Does not compile: says why, for each way to use the library that it refuses.
#include "heddle/coop/await.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/move_to.hpp"
#include "heddle/coop/yield.hpp"

using namespace heddle::coop;

void limited([[maybe_unused]] parallel::group& there, [[maybe_unused]] strand_ref other) {
  constexpr duration second = std::chrono::seconds(1);
#if defined(MOVE)
  await(within(second, parallel::move_to(there)));
#elif defined(YIELD)
  await(within(second, yield()));
#elif defined(YIELD_TO)
  await(within(second, yield_to(other)));
#else
  await(within(second, sleep_for(second)));  // that the rest of it compiles
#endif
}
