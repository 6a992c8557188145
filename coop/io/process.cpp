#include "heddle/coop/io/process.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "core.hpp"
#include "polled.hpp"

namespace heddle::coop::io {

using detail::operation;
using detail::polled_state;
using detail::verb;

struct process::state {
  pid_t id;
  detail::file_ref descriptor;  // a pidfd: readable once the process has ended
  std::optional<exit_status> ended = {};
};

namespace {

// posix_spawn(3)'s two descriptions, freed in any case.
class preparation {
 public:
  preparation() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  ~preparation() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
  }
  preparation(const preparation&) = delete;
  preparation& operator=(const preparation&) = delete;

  // Returns 0 or an errno.
  int duplicate(int from, int to) {
    return from < 0 ? 0 : posix_spawn_file_actions_adddup2(&files, from, to);
  }
  int unblock_signals() {
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    return posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  }

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

int start(const std::vector<std::string>& command, const spawn_options& options, pid_t& id) {
  if (command.empty()) return EINVAL;
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  preparation how;
  int error = how.unblock_signals();
  if (error == 0) error = how.duplicate(options.input, STDIN_FILENO);
  if (error == 0) error = how.duplicate(options.output, STDOUT_FILENO);
  if (error == 0) error = how.duplicate(options.errors, STDERR_FILENO);
  if (error != 0) return error;
  return posix_spawnp(&id, arguments[0], &how.files, &how.attributes, arguments.data(), environ);
}

}  // namespace

result<process> process::spawn(const service& by, const std::vector<std::string>& command,
                               const spawn_options& options) {
  const std::string name = command.empty() ? "nothing" : command[0];
  detail::core& core = by.core();
  core.allow_sockets();
  auto* const watched = new polled_state(&core, "process " + name);
  core.acquire();
  auto made = std::make_shared<state>(state{0, detail::file_ref(watched)});
  if (const int error = start(command, options, made->id)) {
    return {error, "a start of " + name};
  }
  watched->fd = static_cast<int>(syscall(SYS_pidfd_open, made->id, 0));
  if (watched->fd < 0) {
    // It cannot be waited for as others are: so it is as if it had not been started.
    const int error = errno;
    kill(made->id, SIGKILL);
    waitpid(made->id, nullptr, 0);
    return {error, "a pidfd_open(2) for " + name};
  }
  return result(process(std::move(made)));
}

process::wait_awaitable::wait_awaitable(std::shared_ptr<state> its_state)
    : state_(std::move(its_state)), ended_(new operation(verb::readable, state_->descriptor)) {}

bool process::wait_awaitable::ready() { return state_->ended.has_value() || ended_.ready(); }

result<exit_status> process::wait_awaitable::get() const {
  if (state_->ended) return result(*state_->ended);
  const result<std::size_t> over = ended_.get();
  if (!over) return {over.error().value(), "a wait for " + state_->descriptor->name};
  siginfo_t how = {};
  int returned;
  do {
    returned = waitid(P_PID, static_cast<id_t>(state_->id), &how, WEXITED);
  } while (returned != 0 && errno == EINTR);
  if (returned != 0) return {errno, "a wait for " + state_->descriptor->name};
  const bool left = how.si_code == CLD_EXITED;
  state_->ended = exit_status{left ? how.si_status : 0, left ? 0 : how.si_status};
  return result(*state_->ended);
}

result<void> process::signal(int number) const {
  if (syscall(SYS_pidfd_send_signal, state_->descriptor->fd, number, nullptr, 0) == 0) return {};
  return {errno, "a signal to " + state_->descriptor->name};
}

pid_t process::id() const noexcept { return state_->id; }

}  // namespace heddle::coop::io
