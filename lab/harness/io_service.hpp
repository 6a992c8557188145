#pragma once

#include <string_view>

#include "heddle/coop/io/service.hpp"

namespace heddle::lab {

/// What a workload's parameter `io_uring`, `linux_aio` or `threads` asks of the runtime.
inline coop::io::service_options io_service(std::string_view name, unsigned depth) {
  using coop::io::mechanism;
  const mechanism only = name == "io_uring"    ? mechanism::io_uring
                         : name == "linux_aio" ? mechanism::linux_aio
                                               : mechanism::threads;
  return {.only = only, .depth = depth};
}

}  // namespace heddle::lab
