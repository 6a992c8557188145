#include "harness/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "harness/model.hpp"

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

// As it was before anything was pinned: whoever pins asks first.
const cpu_set_t& allowed_at_first() {
  static const cpu_set_t allowed = allowed_now();
  return allowed;
}

void pin(int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned int>(processor), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot pin to one processor");
  }
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

void pin_to_processor(int index) {
  const cpu_set_t& allowed = allowed_at_first();
  int left = index;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(static_cast<unsigned int>(processor), &allowed)) continue;
    if (left-- == 0) return pin(processor);
  }
  throw cannot_run("this needs " + std::to_string(index + 1) +
                   " processors, and the process may use " + std::to_string(CPU_COUNT(&allowed)) +
                   " (see `taskset -p $$`)");
}

}  // namespace heddle::lab
