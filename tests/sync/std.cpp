// Waits by the C++ library's means: std_waits SCENARIO. Prints, for each lock, how many operations
// got what they wanted, as it has counted them itself. The functions that wait and that hold are
// its own, whatever of the library's headers lies between them and the lock. They are not inlined,
// as only -finstrument-functions tells of those that are, and do not end with the call, which would
// be a jump, when they are left.
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

struct Account {
  std::mutex lock;
  long balance = 0;
};

struct Queue {
  char size = 0;
  std::mutex lock;
};

struct Queues {
  std::array<Queue, 4> queues;
};

struct Pool : Queues {
  bool open = false;
};

Account shared;
Pool pools[2];
std::mutex letters;
std::condition_variable arrived;
std::shared_mutex archive;
std::recursive_timed_mutex deep;
std::counting_semaphore<> tokens{0};
std::atomic<int> flag{0};
std::atomic<long> sleeper{0};
std::atomic<int> ready{0};
bool there = false;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "std_waits: %s\n", what);
  std::exit(1);
}

// Until the thread that has told its number sleeps in the kernel, three times in a row.
void until_asleep() {
  while (sleeper == 0) std::this_thread::yield();
  const std::string path = "/proc/self/task/" + std::to_string(sleeper) + "/stat";
  for (int times = 0; times < 3; std::this_thread::sleep_for(5ms)) {
    std::string text;
    std::getline(std::ifstream(path), text);
    const auto end = text.rfind(')');
    times = end != std::string::npos && text.substr(end + 2, 1) == "S" ? times + 1 : 0;
  }
}

[[gnu::noinline]] void hold() {
  const std::lock_guard guard(shared.lock);
  ++shared.balance;
  ready = 1;
  until_asleep();
}

[[gnu::noinline]] void want() {
  while (ready == 0) std::this_thread::yield();
  sleeper = ::gettid();
  std::unique_lock guard(shared.lock);
  ++shared.balance;
}

void mutexes() {
  std::thread holder(hold);
  std::thread waiter(want);
  holder.join();
  waiter.join();
  std::printf("mutex (anonymous namespace)::shared.lock %ld\n", shared.balance);
}

[[gnu::noinline]] void hold_queue() {
  const std::lock_guard guard(pools[1].queues[3].lock);
  pools[1].open = true;
  ready = 1;
  until_asleep();
}

[[gnu::noinline]] void want_queue() {
  while (ready == 0) std::this_thread::yield();
  sleeper = ::gettid();
  std::unique_lock guard(pools[1].queues[3].lock);
  pools[1].open = false;
}

void members() {
  std::thread holder(hold_queue);
  std::thread waiter(want_queue);
  holder.join();
  waiter.join();
  std::printf("mutex (anonymous namespace)::pools[1].queues[3].lock 2\n");
}

[[gnu::noinline]] void hold_local(Account& account) {
  const std::lock_guard guard(account.lock);
  ++account.balance;
  ready = 1;
  until_asleep();
}

[[gnu::noinline]] void want_local(Account& account) {
  while (ready == 0) std::this_thread::yield();
  sleeper = ::gettid();
  std::unique_lock guard(account.lock);
  ++account.balance;
}

// No variable of the program's has this lock.
void local() {
  Account account;
  std::thread holder(hold_local, std::ref(account));
  std::thread waiter(want_local, std::ref(account));
  holder.join();
  waiter.join();
}

[[gnu::noinline]] void read_letter() {
  std::unique_lock guard(letters);
  sleeper = ::gettid();
  arrived.wait(guard, [] { return there; });
}

[[gnu::noinline]] void write_letter() {
  {
    const std::scoped_lock guard(letters);
    there = true;
  }
  arrived.notify_all();
  ready = 1;
}

void conditions() {
  std::thread reader(read_letter);
  until_asleep();
  write_letter();
  reader.join();
  std::printf("mutex (anonymous namespace)::letters 2\n");
  std::printf("condition (anonymous namespace)::arrived 1\n");
}

[[gnu::noinline]] void look_up() {
  sleeper = ::gettid();
  std::shared_lock guard(archive);
}

[[gnu::noinline]] void file_away() {
  archive.lock();
  std::thread reader(look_up);
  until_asleep();
  archive.unlock();
  reader.join();
}

void rwlocks() {
  file_away();
  std::printf("rwlock (anonymous namespace)::archive 2\n");
}

// Two locks at once are taken by a function of the library's, which may keep nothing of its caller.
[[gnu::noinline]] void hold_both() {
  const std::scoped_lock guard(shared.lock, letters);
  ++shared.balance;
  ready = 1;
  until_asleep();
}

void at_once() {
  std::thread holder(hold_both);
  std::thread waiter(want);
  holder.join();
  waiter.join();
  std::printf("mutex (anonymous namespace)::shared.lock %ld\n", shared.balance);
}

void descend(int levels) {
  const std::lock_guard guard(deep);
  if (levels > 1) descend(levels - 1);
}

[[gnu::noinline]] void give_up() {
  require(!deep.try_lock_for(1ms), "a lock that another thread has");
}

[[gnu::noinline]] void deep_ones() {
  descend(7);
  const std::lock_guard guard(deep);
  std::thread(give_up).join();
  std::printf("mutex (anonymous namespace)::deep 8\n");
}

[[gnu::noinline]] void take_token() {
  sleeper = ::gettid();
  tokens.acquire();
  ready = 1;
}

[[gnu::noinline]] void wait_for_flag() {
  sleeper = ::gettid();
  flag.wait(0);
  ready = 1;
}

[[gnu::noinline]] void futexes() {
  std::thread taker(take_token);
  until_asleep();
  tokens.release();
  taker.join();
  sleeper = 0;
  std::thread waiter(wait_for_flag);
  until_asleep();
  flag = 1;
  flag.notify_one();
  waiter.join();
}

// What wakes the reader comes last of all that a thread does.
[[gnu::noinline]] void write_and_jump() {
  until_asleep();
  {
    const std::scoped_lock guard(letters);
    there = true;
  }
  arrived.notify_all();
}

void jumps() {
  std::thread reader(read_letter), writer(write_and_jump);
  reader.join();
  writer.join();
  std::printf("condition (anonymous namespace)::arrived 1\n");
}

[[gnu::noinline]] void many() {
  std::vector<std::unique_ptr<Account>> accounts;
  for (int i = 0; i < 20000; ++i) accounts.push_back(std::make_unique<Account>());
  for (int round = 0; round < 3; ++round) {
    for (const auto& account : accounts) {
      const std::lock_guard guard(account->lock);
      ++account->balance;
    }
  }
  std::printf("mutex first used in (anonymous namespace)::many() 60000\n");
}

}  // namespace

int main(int count, char** arguments) {
  const struct {
    const char* name;
    void (*run)();
  } all[] = {{"mutexes", mutexes}, {"members", members}, {"conditions", conditions},
             {"rwlocks", rwlocks}, {"deep", deep_ones},  {"futexes", futexes},
             {"many", many},       {"jumps", jumps},     {"local", local},
             {"at-once", at_once}};
  for (const auto& each : all) {
    if (count > 1 && std::strcmp(arguments[1], each.name) == 0) {
      each.run();
      return 0;
    }
  }
  std::fprintf(stderr, "usage: std_waits SCENARIO\n");
  return 2;
}
