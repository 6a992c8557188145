#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "harness/locks.hpp"
#include "harness/team.hpp"
#include "workloads/file/workload.hpp"

namespace heddle::lab::file {
namespace {

// "Locking is done for each operations such that only 1 operation could access the file at one
// point of time" (3.2.3), "We included conditional variables - shared mutexes" (5). How we read
// this: a shared mutex guards the state of the file, free or in use, and a condition variable is
// waited for until it is free. The mutex is never taken shared: the stream has one position, which
// a read moves too.
class gate {
 public:
  void enter() {
    std::unique_lock lock(state_);
    if (in_use_) {
      counters& mine = count();
      ++mine.p_operations;
      ++mine.blocked_p_operations;
      free_.wait(lock, [this] { return !in_use_; });
    }
    in_use_ = true;
  }

  void leave() {
    {
      const std::lock_guard lock(state_);
      in_use_ = false;
    }
    free_.notify_one();
  }

 private:
  counting<std::shared_mutex> state_;
  std::condition_variable_any free_;
  bool in_use_ = false;
};

template <class Enter, class Leave>
void run_guarded(problem& work, region& timed, const Enter& enter, const Leave& leave) {
  run_on_threads(timed, work.threads(), [&](int strand) {
    outcome seen;
    work.for_each_of(strand, [&](const operation& each) {
      enter();
      work.perform(each, strand, seen);
      leave();
    });
    work.outcome_of(strand) = seen;
  });
}

void run(problem& work, region& timed) {
  if (work.plain_mutex()) {
    counting<std::mutex> mutex;
    run_guarded(
        work, timed, [&] { mutex.lock(); }, [&] { mutex.unlock(); });
  } else {
    gate file;
    run_guarded(
        work, timed, [&] { file.enter(); }, [&] { file.leave(); });
  }
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::file
