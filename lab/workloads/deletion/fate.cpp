#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "harness/throw_errno.hpp"
#include "workloads/deletion/workload.hpp"

namespace heddle::lab::deleting {
namespace {

using namespace std::chrono_literals;

// Whether all of a process's threads sleep. The state follows the name, in parentheses, in stat.
bool sleeps(pid_t process) {
  std::error_code gone;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
    std::string line;
    std::getline(std::ifstream(task.path() / "stat"), line);
    const std::size_t name_end = line.rfind(')');
    if (name_end == std::string::npos || line.compare(name_end + 1, 2, " S") != 0) return false;
  }
  return !gone;
}

}  // namespace

fate fate_of(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child < 0) throw_errno("cannot fork");
  if (child == 0) {
    close(STDERR_FILENO);  // what an assertion says is expected
    body();
    _exit(0);
  }
  // Only the child's own threads can wake one another: once all sleep at ten looks in a row, they
  // sleep for ever.
  for (int asleep = 0; asleep < 10;) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? fate::returned : fate::aborted;
    }
    asleep = sleeps(child) ? asleep + 1 : 0;
    std::this_thread::sleep_for(1ms);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return fate::hangs;
}

}  // namespace heddle::lab::deleting
