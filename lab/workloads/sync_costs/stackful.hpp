#pragma once

#include <cstdint>

#include "workloads/sync_costs/workload.hpp"

namespace heddle::lab::sync_costs {

/// The operations for strands that can wait inside of a call. `Strands` has `semaphore(permits)`
/// with P(), V() and permits(); `run(strands, body)`, which runs body(0) … and waits for all; and
/// `yield()`.
template <class Strands>
void run_on(Strands& strands, problem& work, region& timed) {
  using semaphore = typename Strands::semaphore;
  const std::int64_t count = work.count();
  if (work.operation() == "p" || work.operation() == "v") {
    const bool takes = work.operation() == "p";
    semaphore permits(takes ? static_cast<unsigned int>(count) : 0U);
    strands.run(1, [&](int) {
      timed.begin();
      if (takes) {
        for (std::int64_t i = 0; i < count; ++i) {
          permits.P();
          one_by_one();
        }
      } else {
        for (std::int64_t i = 0; i < count; ++i) {
          permits.V();
          one_by_one();
        }
      }
      timed.end();
    });
    work.did(count);
    work.permits(permits.permits());
    return;
  }
  if (work.operation() == "yield") {
    strands.run(2, [&](int who) {
      std::int64_t done = 0;
      for (std::int64_t i = who; i < count; i += 2) {
        strands.yield();
        ++done;
      }
      work.did(done);
    });
    return;
  }
  semaphore ping(1U);
  semaphore pong(0U);
  strands.run(2, [&](int who) {
    semaphore& mine = who == 0 ? ping : pong;
    semaphore& others = who == 0 ? pong : ping;
    for (std::int64_t i = who; i < count; i += 2) {
      mine.P();
      work.take_turn(i);
      others.V();
    }
  });
  // No strand waits for the last V any more.
  work.permits(ping.permits() + pong.permits() - 1);
}

}  // namespace heddle::lab::sync_costs
