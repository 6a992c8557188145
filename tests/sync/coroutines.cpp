// Critical sections of coroutines: coroutines SCENARIO. In each of so many turns, a coroutine takes
// a mutex and has it until another thread waits for it. Each scenario's coroutine says by what is
// in its section whether a cooperative scheduler could take the place of the lock.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#define CALLED __attribute__((noinline, noipa))

pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;

namespace {

constexpr long kTurns = 20;

// The turn in which the coroutine has taken the mutex, and that in which the rival has got it.
std::atomic<long> taken = 0, given = 0;
// Whether the coroutine is suspended with the mutex.
std::atomic<bool> suspended = false;
// The rival's number when it is about to wait.
std::atomic<long> waiter = 0;

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

void until(const std::atomic<long>& value, long least) {
  while (value < least) nap();
}

// Until the thread with that number, which has nothing else to do than to wait, sleeps in the
// kernel, three times in a row: the recorder may have had to wait for something once.
CALLED void until_asleep(const std::atomic<long>& number) {
  until(number, 1);
  const std::string path = "/proc/" + std::to_string(number) + "/stat";
  for (int times = 0; times < 3; std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
    std::string text;
    std::getline(std::ifstream(path), text);
    const std::size_t name_end = text.rfind(')');
    times = name_end + 2 < text.size() && text[name_end + 2] == 'S' ? times + 1 : 0;
  }
}

// The calls of the lock are these functions', or the coroutine's own.
CALLED void take() { pthread_mutex_lock(&ledger); }
CALLED void give() { pthread_mutex_unlock(&ledger); }

CALLED void wait_in_turns() {
  for (long turn = 1; turn <= kTurns; ++turn) {
    until(taken, turn);
    waiter = gettid();
    take();
    give();
    given = turn;
  }
}

struct Task {
  struct promise_type {
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::abort(); }
  };
  std::coroutine_handle<> handle;
};

void begin_turn(long turn) {
  until(given, turn - 1);
  waiter = 0;
}

// Nothing in the section suspends it; it is suspended behind. That the section's call begins anew
// each time shows that the coroutine was not suspended in it before.
CALLED void run_section(long turn) {
  pthread_mutex_lock(&ledger);
  taken = turn;
  until_asleep(waiter);
  pthread_mutex_unlock(&ledger);
}

CALLED Task runs() {
  for (long turn = 1; turn <= kTurns; ++turn) {
    begin_turn(turn);
    run_section(turn);
    co_await std::suspend_always();
  }
}

// It is suspended while it has the mutex.
CALLED Task suspends() {
  for (long turn = 1; turn <= kTurns; ++turn) {
    begin_turn(turn);
    pthread_mutex_lock(&ledger);
    taken = turn;
    suspended = true;
    co_await std::suspend_always();
    suspended = false;
    pthread_mutex_unlock(&ledger);
    co_await std::suspend_always();
  }
}

// The same, but it has gone on when the other thread comes: looks behind the resumption tell
// nothing of the suspension before it.
CALLED Task suspends_before() {
  for (long turn = 1; turn <= kTurns; ++turn) {
    begin_turn(turn);
    pthread_mutex_lock(&ledger);
    co_await std::suspend_always();
    taken = turn;
    until_asleep(waiter);
    pthread_mutex_unlock(&ledger);
    co_await std::suspend_always();
  }
}

// The same, where functions that have returned took it.
CALLED Task suspends_after() {
  for (long turn = 1; turn <= kTurns; ++turn) {
    begin_turn(turn);
    take();
    taken = turn;
    suspended = true;
    co_await std::suspend_always();
    suspended = false;
    give();
    co_await std::suspend_always();
  }
}

// It is suspended while it has the mutex, before another thread comes, and when it has gone on it
// waits for a mutex that a third thread has.
std::atomic<long> journal_taken = 0, journal_waiter = 0;

CALLED void wait_for_journal(long turn) {
  until_asleep(waiter);
  until(journal_taken, turn);
  journal_waiter = gettid();
  pthread_mutex_lock(&journal);
  pthread_mutex_unlock(&journal);
}

CALLED void hold_journal() {
  for (long turn = 1; turn <= kTurns; ++turn) {
    until(taken, turn);
    pthread_mutex_lock(&journal);
    journal_waiter = 0;
    journal_taken = turn;
    until_asleep(journal_waiter);
    pthread_mutex_unlock(&journal);
    until(given, turn);
  }
}

// `takes`: else it is another instance, which runs meanwhile and takes nothing.
CALLED Task goes_on_to_wait(bool takes) {
  for (long turn = 1; turn <= kTurns; ++turn) {
    if (!takes) {
      until(given, turn);
      co_await std::suspend_always();
      continue;
    }
    begin_turn(turn);
    pthread_mutex_lock(&ledger);
    co_await std::suspend_always();
    taken = turn;
    wait_for_journal(turn);
    pthread_mutex_unlock(&ledger);
    co_await std::suspend_always();
  }
}

// In its section it resumes another, which is suspended while it itself runs on.
CALLED Task steps() {
  for (;;) {
    until_asleep(waiter);
    co_await std::suspend_always();
  }
}

CALLED void resume_within(const Task& other, long turn) {
  pthread_mutex_lock(&ledger);
  taken = turn;
  other.handle.resume();
  until_asleep(waiter);
  pthread_mutex_unlock(&ledger);
}

CALLED Task resumes() {
  const Task other = steps();
  for (long turn = 1; turn <= kTurns; ++turn) {
    begin_turn(turn);
    resume_within(other, turn);
    co_await std::suspend_always();
  }
}

// A coroutine that runs meanwhile, and waits for nothing.
CALLED Task computes() {
  for (;;) {
    if (suspended) until_asleep(waiter);
    co_await std::suspend_always();
  }
}

// One that waits meanwhile for the mutex that a third thread has.
CALLED Task waits() {
  for (;;) {
    if (suspended) wait_for_journal(taken);
    co_await std::suspend_always();
  }
}

// Two coroutines of one thread in turn, until the first one ends.
CALLED void weave(Task first, Task second) {
  while (!first.handle.done()) {
    first.handle.resume();
    second.handle.resume();
  }
}

// The same, but the first one goes on on another thread when it has been suspended with the mutex:
// libc lets that one give it back. `at_once`: while the second one runs, else behind.
CALLED void weave_elsewhere(Task first, Task second, bool at_once) {
  std::atomic<long> asked = 0, done = 0;
  std::thread other([&] {
    for (long turn = 1; turn <= kTurns; ++turn) {
      until(asked, turn);
      first.handle.resume();
      done = turn;
    }
  });
  for (long turn = 1; turn <= kTurns; ++turn) {
    first.handle.resume();
    if (at_once) asked = turn;
    second.handle.resume();
    asked = turn;
    until(done, turn);
  }
  other.join();
}

// Those that do not end are killed when these threads wait.
[[noreturn]] void die_when_asleep(const std::atomic<long>& one, const std::atomic<long>& other) {
  until_asleep(one);
  until_asleep(other);
  std::raise(SIGKILL);
  std::abort();
}

std::atomic<long> first_waiter = 0, second_waiter = 0;

CALLED Task keeps() {
  pthread_mutex_lock(&ledger);
  taken = kTurns;
  co_await std::suspend_always();
  first_waiter = gettid();
  pause();
}

CALLED Task wants() {
  second_waiter = gettid();
  pthread_mutex_lock(&ledger);
  co_return;
}

// A coroutine wants what another one of its thread has, which is suspended: it goes on nowhere, or
// on another thread.
[[noreturn]] CALLED void blocked_by_suspended() {
  const Task holder = keeps(), other = wants();
  std::thread thread([&] {
    holder.handle.resume();
    other.handle.resume();
  });
  die_when_asleep(second_waiter, second_waiter);
}

[[noreturn]] CALLED void blocked_by_moved() {
  const Task holder = keeps(), other = wants();
  std::thread thread([&] {
    holder.handle.resume();
    until_asleep(first_waiter);
    other.handle.resume();
  });
  until(taken, kTurns);
  std::thread elsewhere([&] { holder.handle.resume(); });
  die_when_asleep(first_waiter, second_waiter);
}

// Each of two coroutines has what the other one wants, each on its thread.
CALLED Task wants_journal() {
  pthread_mutex_lock(&ledger);
  co_await std::suspend_always();
  first_waiter = gettid();
  pthread_mutex_lock(&journal);
}

CALLED Task wants_ledger() {
  pthread_mutex_lock(&journal);
  co_await std::suspend_always();
  second_waiter = gettid();
  pthread_mutex_lock(&ledger);
}

[[noreturn]] CALLED void blocked_by_one_another() {
  std::atomic<long> ready = 0;
  const auto run = [&](const Task task) {
    task.handle.resume();
    ++ready;
    until(ready, 2);
    task.handle.resume();
  };
  std::thread one(run, wants_journal());
  std::thread other(run, wants_ledger());
  die_when_asleep(first_waiter, second_waiter);
}

int usage() {
  std::fputs("usage: coroutines SCENARIO\n", stderr);
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return usage();
  const std::string scenario = arguments[1];
  if (scenario == "blocked-by-suspended") blocked_by_suspended();
  if (scenario == "blocked-by-moved") blocked_by_moved();
  if (scenario == "blocked-by-one-another") blocked_by_one_another();
  std::thread rival(wait_in_turns);
  if (scenario == "runs") {
    weave(runs(), computes());
  } else if (scenario == "suspends") {
    weave(suspends(), computes());
  } else if (scenario == "suspends-before") {
    weave(suspends_before(), computes());
  } else if (scenario == "suspends-after") {
    weave(suspends_after(), computes());
  } else if (scenario == "moves") {
    weave_elsewhere(suspends(), computes(), false);
  } else if (scenario == "resumes") {
    weave(resumes(), computes());
  } else if (scenario == "waits" || scenario == "waits-elsewhere") {
    std::thread holder(hold_journal);
    if (scenario == "waits") weave(suspends(), waits());
    if (scenario == "waits-elsewhere")
      weave_elsewhere(goes_on_to_wait(true), goes_on_to_wait(false), true);
    holder.join();
  } else {
    return usage();
  }
  rival.join();
}
