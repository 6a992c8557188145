#pragma once

#include <string_view>
#include <system_error>

#include "harness/model.hpp"
#include "heddle/coop/io/service.hpp"

namespace heddle::lab {

/// The runtime's file I/O by the mechanism that a workload names: `io_uring`, `linux_aio` or
/// `threads`. Throws cannot_run where it does not work.
class io_service : public coop::io::service {
 public:
  io_service(coop::scheduler& on, std::string_view name, unsigned depth) try
      : service(on, {.only = named(name), .depth = depth}) {
  } catch (const std::system_error& error) {
    throw cannot_run(error.what());
  }

 private:
  static coop::io::mechanism named(std::string_view name) {
    using coop::io::mechanism;
    return name == "io_uring"    ? mechanism::io_uring
           : name == "linux_aio" ? mechanism::linux_aio
                                 : mechanism::threads;
  }
};

}  // namespace heddle::lab
