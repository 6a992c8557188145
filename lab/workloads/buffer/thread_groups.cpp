// PCM as the source simulated it (section 3.2), on kernel threads of which any may run anywhere:
// all producers are a group, all consumers the other. Its words: "the extra, protection
// synchronization required to protect shared variables results in code whose semaphore structure is
// identical to that in the CP version *and* has additional synchronization to simulate the await
// statements". That code is not printed; both ways here to simulate an await are from its authors.
#include <sched.h>

#include "harness/posix_semaphore.hpp"
#include "harness/team.hpp"
#include "workloads/buffer/workload.hpp"

namespace heddle::lab::buffer {
namespace {

/// A number that both groups share: one of them awaits that there is something to take, the other
/// adds. The await is the loop of Figure 1(b), `do not(condition) -> nap(0) od`, and what it looks
/// at is protected, as in DP_1.
class by_loop {
 public:
  explicit by_loop(int first) : value_(first) {}

  /// `await value > 0; value := value - 1`
  void take_one() {
    protection_.P();
    while (value_ == 0) {
      protection_.V();
      ++count().strand_switches;
      sched_yield();
      protection_.P();
    }
    --value_;
    protection_.V();
  }

  /// `value := value + 1`
  void add_one() {
    protection_.P();
    ++value_;
    protection_.V();
  }

 private:
  posix_semaphore protection_{1U};
  int value_;  // protected
};

/// The same without a busy wait, as the textbook of one of the authors writes an await by
/// semaphores (Andrews and Olsson, The SR Programming Language): passing the baton.
///
/// Invariant: while nobody holds `protection_`, there are either none to take or none waiting.
class by_baton {
 public:
  explicit by_baton(int first) : value_(first) {}

  void take_one() {
    protection_.P();
    if (value_ == 0) {
      ++waiting_;
      protection_.V();
      delay_.P();  // Returns with `protection_`, which the thread that added one did not release.
      --waiting_;
    }
    --value_;
    protection_.V();
  }

  void add_one() {
    protection_.P();
    ++value_;
    if (waiting_ > 0) {
      delay_.V();
    } else {
      protection_.V();
    }
  }

 private:
  posix_semaphore protection_{1U};
  posix_semaphore delay_{0U};
  int value_;        // protected
  int waiting_ = 0;  // protected
};

template <class Number>
class simulation {
 public:
  explicit simulation(problem& work) : work_(work), empty_(work.slots()) {}

  void produce(int who) {
    for (std::int64_t item = 0; item < work_.items(); ++item) {
      work_.produce(who, no_checkpoint);
      empty_.take_one();
      producers_.P();
      work_.deposit(who, no_checkpoint);
      producers_.V();
      full_.add_one();
    }
  }

  void consume(int who) {
    for (std::int64_t left = work_.share_of(who); left > 0; --left) {
      full_.take_one();
      consumers_.P();
      work_.fetch(who, no_checkpoint);
      consumers_.V();
      empty_.add_one();
      work_.consume(who, no_checkpoint);
    }
  }

 private:
  problem& work_;
  Number empty_;                   // slots
  Number full_{0};                 // slots
  posix_semaphore producers_{1U};  // protects what producers share: where the next item goes
  posix_semaphore consumers_{1U};  // protects what consumers share: where the next item is
};

template <class Number>
void run(problem& work, region& timed) {
  simulation<Number> all(work);
  run_on_threads(timed, work.producers() + work.consumers(), [&](int who) {
    if (who < work.producers()) return all.produce(who);
    all.consume(who - work.producers());
  });
}

const model<problem> models[] = {
    {"thread/groups", &run<by_loop>},
    {"thread/groups-baton", &run<by_baton>},
};

}  // namespace
}  // namespace heddle::lab::buffer
