// libheddle-sync.so is the recorder, and this folder: it is loaded in libheddle.so's place where
// waits are to be recorded. So a program whose waits are not asked for calls libc's functions as it
// does without us.
#include "functions.hpp"
#include "objects.hpp"

namespace heddle::trace {

namespace {

[[gnu::constructor]] void on_load_of_waits() {
  prepare_own_thread();
  find_mutexes();
  find_rwlocks();
  find_conditions();
  find_semaphores();
  find_others();
  find_futex();
}

}  // namespace

bool counts_waits() { return true; }

}  // namespace heddle::trace
