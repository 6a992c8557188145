#include "workloads/tracing/command.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <system_error>

extern char** environ;

namespace heddle::lab::tracing {
namespace {

std::uint64_t last_peak = 0;

std::string joined(const command& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

pid_t start(const command& words, int output) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t child = -1;
  const int error =
      posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail(error, "cannot run `" + joined(words) + "`");
  return child;
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t got = read(from, buffer.data(), buffer.size());
    if (got > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      return text;
    } else if (errno != EINTR) {
      fail(errno, "cannot read what a command prints");
    }
  }
}

}  // namespace

std::string run(const command& words) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno, "no pipe");
  pid_t child = -1;
  try {
    child = start(words, ends[1]);
  } catch (...) {
    close(ends[0]);
    close(ends[1]);
    throw;
  }
  close(ends[1]);
  std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  rusage used{};
  while (wait4(child, &status, 0, &used) < 0) {
    if (errno != EINTR) fail(errno, "cannot wait for `" + joined(words) + "`");
  }
  last_peak = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  const std::string how = WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                              : "exit code " + std::to_string(WEXITSTATUS(status));
  throw std::runtime_error("`" + joined(words) + "` ended with " + how);
}

std::uint64_t peak_of_last() { return last_peak; }

std::filesystem::path lab_directory() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::string heddle_command() { return (lab_directory().parent_path() / "bin" / "heddle").string(); }

scratch::scratch() {
  // The runner's is emptied also where this process is killed.
  const char* const runners = std::getenv("HEDDLE_SCRATCH");
  const std::filesystem::path parent =
      runners != nullptr ? runners : std::filesystem::temp_directory_path();
  std::string name = (parent / "heddle-lab-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) fail(errno, "cannot make the directory " + name);
  path_ = name;
}

scratch::~scratch() {
  std::error_code ignored;  // what cannot be removed is left in the directory for temporary files
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path scratch::fresh(const std::string& name) const {
  std::filesystem::path path = path_ / name;
  std::filesystem::remove_all(path);
  return path;
}

}  // namespace heddle::lab::tracing
