#pragma once

#include "heddle/coop/await.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/preemption/workload.hpp"

namespace heddle::lab::preemption {

/// Hogs and sleeper on our scheduler; `between(i)` is what a hog does after its step i.
template <class Between>
void run_on(coop::scheduler& s, problem& work, const Between& between) {
  s.spawn([&s, &work] {
    do {
      const coop::time_point due = s.now() + coop::duration(work.sleep_ns());
      coop::await(coop::sleep_until(due));
      work.woken((s.now() - due).count());
    } while (work.computing());
  });
  for (int hog = 0; hog < work.hogs(); ++hog) {
    s.spawn([&work, &between, hog] { work.compute(hog, between); });
  }
  s.run();
}

}  // namespace heddle::lab::preemption
