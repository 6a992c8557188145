#pragma once

#include <unistd.h>

#include <string>
#include <string_view>

#include "harness/parameters.hpp"
#include "heddle/coop/io/service.hpp"
#include "workloads/io_random/workload.hpp"

namespace heddle::lab::io_random {

/// What the workload's `io` asks for.
inline coop::io::service_options service_options(const problem& work) {
  using coop::io::mechanism;
  const mechanism only = work.io() == "io_uring"    ? mechanism::io_uring
                         : work.io() == "linux_aio" ? mechanism::linux_aio
                                                    : mechanism::threads;
  return {.only = only, .depth = work.depth()};
}

/// The file of the workload, for a service to close.
inline coop::io::file adopt(const coop::io::service& files, const problem& work) {
  return files.adopt(dup(work.fd()), "the file of the test");
}

}  // namespace heddle::lab::io_random
