#include "run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace {

std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void redirect(const std::filesystem::path& path, int descriptor) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dup2(file, descriptor);
  close(file);
}

}  // namespace

Scratch::Scratch() {
  std::string name = (std::filesystem::temp_directory_path() / "heddle-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch directory");
  path_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Outcome run(const Run& what) {
  const Scratch scratch;  // not the program's directory, which tests look into
  const auto out = scratch.path() / "out", err = scratch.path() / "err";
  const pid_t child = fork();
  if (child == 0) {
    if (!what.directory.empty() && chdir(what.directory.c_str()) != 0) _exit(126);
    redirect(out, STDOUT_FILENO);
    redirect(err, STDERR_FILENO);
    std::string program = what.arguments[0];
    if (program.find('/') == std::string::npos) program = TRACED_PROGRAMS "/" + program;
    std::vector<char*> arguments{program.data()};
    for (std::size_t i = 1; i < what.arguments.size(); ++i) {
      arguments.push_back(const_cast<char*>(what.arguments[i].c_str()));
    }
    arguments.push_back(nullptr);
    unsetenv("HEDDLE_DIR");
    if (what.recorded) setenv("LD_PRELOAD", HEDDLE_LIBRARY, 1);
    if (!what.trace.empty()) setenv("HEDDLE_DIR", what.trace.c_str(), 1);
    what.in_child();
    execv(program.c_str(), arguments.data());
    _exit(127);
  }
  if (child < 0) throw std::runtime_error("no process");
  if (what.kill_after > 0) {
    usleep(what.kill_after);
    kill(child, SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return {code, contents(out), contents(err), child};
}

int kills() {
  const char* const wanted = std::getenv("HEDDLE_KILLS");
  return wanted == nullptr ? 20 : std::atoi(wanted);
}
