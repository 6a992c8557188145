#include "workloads/survey/tool.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

#include "harness/throw_errno.hpp"

namespace heddle::lab::surveying {

tool_output run_tool(const std::vector<std::string>& command,
                     const std::function<void(pid_t)>& started) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("pipe2");
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  const pid_t tool = fork();
  if (tool < 0) throw_errno("cannot fork");
  if (tool == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  started(tool);
  tool_output said;
  std::array<char, 4096> some{};
  for (ssize_t got;
       (got = read(ends[0], some.data(), some.size())) > 0 || (got < 0 && errno == EINTR);) {
    if (got > 0) said.text.append(some.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  while (waitpid(tool, &said.status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(said.status) && WEXITSTATUS(said.status) == 127) {
    throw std::runtime_error(command[0] + " is missing: `apt-get install " + command[0] + "`");
  }
  return said;
}

}  // namespace heddle::lab::surveying
