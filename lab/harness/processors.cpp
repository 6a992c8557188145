#include "harness/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace heddle::lab {

int processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return std::max(1, CPU_COUNT(&allowed));
}

void pin_to_one_processor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned int>(std::max(0, sched_getcpu())), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot pin to one processor");
  }
}

}  // namespace heddle::lab
