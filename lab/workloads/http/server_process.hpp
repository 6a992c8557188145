#pragma once

#include <functional>

#include "workloads/http/limits.hpp"

namespace heddle::lab::http {

/// Runs `body` in a process of its own, which is then the one that serves, until it ends. The
/// process ends with this one, and fails if `body` throws. Throws std::runtime_error if it failed.
void serve_in_process(server_state& state, const std::function<void()>& body);

}  // namespace heddle::lab::http
