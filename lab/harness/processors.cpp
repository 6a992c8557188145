#include "harness/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <string>

#include "harness/model.hpp"
#include "harness/throw_errno.hpp"

namespace heddle::lab {
namespace {

cpu_set_t allowed_now() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    CPU_SET(static_cast<unsigned int>(std::max(0, sched_getcpu())), &allowed);
  }
  return allowed;
}

// The processors that were allowed before anything was pinned: every pin_to…() calls this before it
// pins.
const cpu_set_t& allowed_at_first() {
  static const cpu_set_t allowed = allowed_now();
  return allowed;
}

void pin(const cpu_set_t& processors) {
  if (sched_setaffinity(0, sizeof processors, &processors) != 0) {
    throw_errno("cannot pin to a processor");
  }
}

void pin(int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned int>(processor), &one);
  pin(one);
}

[[noreturn]] void too_few(int wanted) {
  throw cannot_run("this needs " + std::to_string(wanted) +
                   " processors, and the process may use " +
                   std::to_string(CPU_COUNT(&allowed_at_first())) + " (see `taskset -p $$`)");
}

}  // namespace

int processors() {
  const cpu_set_t allowed = allowed_now();
  return std::max(1, CPU_COUNT(&allowed));
}

void pin_to_one_processor() {
  allowed_at_first();
  pin(std::max(0, sched_getcpu()));
}

void pin_to_processors(int count) {
  if (count == 1) return pin_to_one_processor();
  const cpu_set_t& allowed = allowed_at_first();
  cpu_set_t first;
  CPU_ZERO(&first);
  for (unsigned int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_COUNT(&first) == count) break;
    if (CPU_ISSET(processor, &allowed)) CPU_SET(processor, &first);
  }
  if (CPU_COUNT(&first) < count) too_few(count);
  pin(first);
}

void pin_to_processor(int index) {
  const cpu_set_t& allowed = allowed_at_first();
  int left = index;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(static_cast<unsigned int>(processor), &allowed)) continue;
    if (left-- == 0) return pin(processor);
  }
  too_few(index + 1);
}

}  // namespace heddle::lab
