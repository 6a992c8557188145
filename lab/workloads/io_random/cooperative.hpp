#pragma once

#include <unistd.h>

#include "harness/io_service.hpp"
#include "workloads/io_random/workload.hpp"

namespace heddle::lab::io_random {

/// The file of the workload, for a service to close.
inline coop::io::file adopt(const coop::io::service& files, const problem& work) {
  return files.adopt(dup(work.fd()), "the file of the test");
}

}  // namespace heddle::lab::io_random
