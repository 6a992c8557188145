// With REFUSED it does not compile, and the library says why for each of three uses.
#include "heddle/coop/await.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/move_to.hpp"
#include "heddle/coop/yield.hpp"

using namespace heddle::coop;

void limited([[maybe_unused]] parallel::group& there, [[maybe_unused]] strand_ref other) {
  constexpr duration second = std::chrono::seconds(1);
#if defined(REFUSED)
  await(within(second, parallel::move_to(there)));
  await(within(second, yield()));
  await(within(second, yield_to(other)));
#else
  await(within(second, sleep_for(second)));  // that the rest of it compiles
#endif
}
