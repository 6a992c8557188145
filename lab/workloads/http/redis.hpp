#pragma once

#include <sys/types.h>

#include <cstdint>

#include "heddle/coop/io/endpoint.hpp"

namespace heddle::lab::http {

struct running_redis {
  pid_t process;
  coop::io::endpoint address;
};

/// Starts a Redis at a free port of the loopback interface, which writes nothing to disk, ends with
/// this thread, and has the values of all kept keys (back_end_process). It runs where the clients
/// do: on the second processor, if there is one; `askers` may have a connection at a time. Throws
/// cannot_run if it is not installed, std::runtime_error if it does not start.
[[nodiscard]] running_redis start_redis(std::int64_t askers);

}  // namespace heddle::lab::http
