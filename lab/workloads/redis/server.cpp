#include "workloads/redis/server.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "harness/throw_errno.hpp"

namespace heddle::lab::redis {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 10s;

[[noreturn]] void run(const std::vector<char*>& words) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  execvp(words.front(), words.data());
  _exit(127);
}

// The seconds behind `name` in what INFO says, as ns.
std::uint64_t seconds_in(std::string_view info, std::string_view name) {
  const std::size_t at = info.find(name);
  double seconds = 0;
  if (at != std::string_view::npos) {
    const std::string_view text = info.substr(at + name.size());
    if (std::from_chars(text.begin(), text.end(), seconds).ec == std::errc{}) {
      return static_cast<std::uint64_t>(seconds * 1e9);
    }
  }
  throw std::runtime_error("no " + std::string(name) + " in what Redis says of its processor time");
}

}  // namespace

server::server(const tracing::command& prefix, const std::filesystem::path& program,
               const std::filesystem::path& directory) {
  const std::filesystem::path socket = directory / "socket";
  tracing::command words = prefix;
  // Without a file of settings: these are all.
  for (const std::string& word :
       {program.string(), std::string("--port"), std::string("0"), std::string("--unixsocket"),
        socket.string(), std::string("--save"), std::string(), std::string("--appendonly"),
        std::string("no"), std::string("--dir"), directory.string()}) {
    words.push_back(word);
  }
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  process_ = fork();
  if (process_ < 0) throw_errno("fork(2)");
  if (process_ == 0) run(arguments);
  connect(socket);
}

void server::connect(const std::filesystem::path& socket) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  if (socket.native().size() >= sizeof at.sun_path) {
    throw std::runtime_error(socket.string() + ": too long for the name of a socket: set TMPDIR");
  }
  std::strcpy(at.sun_path, socket.c_str());
  const auto begun = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begun < patience) {
    connection_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection_ < 0) throw_errno("socket(2)");
    if (::connect(connection_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) {
      const timeval limit = {.tv_sec = 10, .tv_usec = 0};
      setsockopt(connection_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      return;
    }
    close(connection_);
    connection_ = -1;
    if (waitpid(process_, nullptr, WNOHANG) == process_) {
      process_ = -1;
      break;
    }
    std::this_thread::sleep_for(2ms);
  }
  throw std::runtime_error("Redis does not answer at " + socket.string());
}

server::~server() {
  if (connection_ >= 0) close(connection_);
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

void server::send_all(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t sent = send(connection_, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) throw_errno("cannot ask Redis");
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::size_t server::receive(char* into, std::size_t most) const {
  for (;;) {
    const ssize_t got = recv(connection_, into, most, 0);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0) throw std::runtime_error("Redis has closed the connection");
    if (errno != EINTR) throw_errno("Redis does not answer");
  }
}

std::string server::ask(std::string_view commands, std::size_t answer_bytes) {
  send_all(commands);
  std::string answers(answer_bytes, '\0');
  for (std::size_t had = 0; had < answer_bytes;) {
    had += receive(answers.data() + had, answer_bytes - had);
  }
  return answers;
}

std::uint64_t server::cpu_ns() {
  // The answer is `$LENGTH`, the text, and a line's end.
  send_all("INFO cpu\r\n");
  std::string text;
  std::size_t whole = std::string::npos;
  while (text.size() < whole) {
    char buffer[4096];
    text.append(buffer, receive(buffer, sizeof buffer));
    const std::size_t line = text.find("\r\n");
    if (line == std::string::npos) continue;
    std::size_t length = 0;
    if (text[0] != '$' ||
        std::from_chars(text.data() + 1, text.data() + line, length).ec != std::errc{}) {
      throw std::runtime_error("Redis answers INFO by `" + text.substr(0, line) + "`");
    }
    whole = line + 2 + length + 2;
  }
  return seconds_in(text, "used_cpu_user:") + seconds_in(text, "used_cpu_sys:");
}

void server::end() {
  send_all("SHUTDOWN NOSAVE\r\n");
  int status = 0;
  while (waitpid(process_, &status, 0) < 0) {
    if (errno != EINTR) throw_errno("cannot wait for Redis");
  }
  process_ = -1;
  if (status != 0) {
    throw std::runtime_error("Redis ended with the wait status " + std::to_string(status));
  }
}

}  // namespace heddle::lab::redis
