#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "workloads/coop_speed/workload.hpp"

namespace heddle::lab::coop_speed {

/// The rows for a runtime of stackful strands that is not ours. `R` has
///
///     static void enter(auto body)     // runs body() as a strand, the runtime around it
///     static strand spawn(auto body)   // ready, but not run at once; strand::join()
///     static void yield()
///     semaphore(int permits), P(), V()
///     channel(), push(value), close(), bool pop(value&)   // with one slot
///
/// Each is the one that the library's author would use: its own channel where it has one.
template <class R>
class peer {
 public:
  static void run(problem& work, region& timed) {
    R::enter([&] {
      if (work.row() == "yield") return yields(work, timed);
      if (work.row() == "spawn") return spawns(work);
      if (work.row() == "handoff") return hand_overs(work);
      if (work.row() == "channel") return channels(work);
      return idle(work);
    });
  }

 private:
  using strand = decltype(R::spawn([] {}));

  // Strands that wait at a gate until all have come; a count for each, for they may run in any
  // order and, where they are threads, at the same time.
  class crowd {
   public:
    template <class Body>
    crowd(std::int64_t size, const Body& body) : counts_(static_cast<std::size_t>(size)) {
      strands_.reserve(counts_.size());
      for (std::int64_t& count : counts_) {
        strands_.push_back(R::spawn([this, &count, body] {
          ++arrived_;
          gate_.P();
          body(count);
        }));
      }
      while (arrived_ < size) R::yield();
      R::yield();  // the last one has counted itself, and now waits
    }
    // Lets them go; what they counted together.
    std::int64_t release() {
      for (std::size_t i = 0; i < strands_.size(); ++i) gate_.V();
      std::int64_t sum = 0;
      for (strand& each : strands_) each.join();
      for (const std::int64_t count : counts_) sum += count;
      return sum;
    }

   private:
    std::vector<std::int64_t> counts_;
    std::vector<strand> strands_;
    std::atomic<std::int64_t> arrived_{0};
    typename R::semaphore gate_{0};
  };

  static void yields(problem& work, region& timed) {
    std::atomic<std::int64_t> left{work.strands()};
    crowd all(work.strands(), [&](std::int64_t& count) {
      for (; count < work.count(); ++count) R::yield();
      if (--left == 0) timed.end();
    });
    timed.begin();
    work.did(all.release());
  }

  static void spawns(problem& work) {
    std::vector<std::int64_t> ran(static_cast<std::size_t>(work.strands()));
    std::vector<strand> strands;
    strands.reserve(ran.size());
    for (std::int64_t batch = 0; batch < work.count(); ++batch) {
      for (std::int64_t& each : ran) {
        strands.push_back(R::spawn([&each] { ++each; }));
      }
      for (strand& each : strands) each.join();
      strands.clear();
    }
    for (const std::int64_t each : ran) work.did(each);
  }

  static void hand_over(problem& work, std::int64_t first, typename R::semaphore& mine,
                        typename R::semaphore& others) {
    for (std::int64_t i = first; i < work.count(); i += 2) {
      mine.P();
      work.take_turn(i);
      others.V();
    }
  }

  static void hand_overs(problem& work) {
    typename R::semaphore ping(1);
    typename R::semaphore pong(0);
    strand first = R::spawn([&] { hand_over(work, 0, ping, pong); });
    strand second = R::spawn([&] { hand_over(work, 1, pong, ping); });
    first.join();
    second.join();
  }

  static void channels(problem& work) {
    typename R::channel values;
    strand producer = R::spawn([&] {
      for (std::int64_t i = 0; i < work.count(); ++i) values.push(i);
      values.close();
    });
    strand consumer = R::spawn([&] {
      for (std::int64_t value = 0; values.pop(value);) work.take_turn(value);
    });
    producer.join();
    consumer.join();
  }

  static void idle(problem& work) {
    work.measure_empty();
    crowd all(work.strands(), [](std::int64_t& count) { ++count; });
    work.measure_full();
    work.did(all.release());
  }
};

}  // namespace heddle::lab::coop_speed
