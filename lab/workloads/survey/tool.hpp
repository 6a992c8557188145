#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace heddle::lab::surveying {

struct tool_output {
  std::string text;  ///< of both its outputs
  int status = 0;    ///< as waitpid() says it
};

/// Runs a command, `started` with its process first, and reads until it ends. Throws
/// std::runtime_error if there is no such command.
[[nodiscard]] tool_output run_tool(
    const std::vector<std::string>& command,
    const std::function<void(pid_t)>& started = [](pid_t) {});

}  // namespace heddle::lab::surveying
