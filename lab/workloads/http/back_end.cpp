#include "workloads/http/back_end.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "workloads/http/listening.hpp"
#include "workloads/http/resp.hpp"

namespace heddle::lab::http {
namespace {

// Whether `text`, the answers, was written.
bool write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void serve(int peer) {
  bytes in(64 * 1024);
  bytes out(64 * 1024);
  for (;;) {
    const coop::io::buffer room = in.room();
    const ssize_t count = read(peer, room.data(), room.size());
    if (count <= 0) return;
    in.added(static_cast<std::size_t>(count));
    std::size_t taken = 0;
    while (const auto key = read_get(in.text(), taken)) {
      if (key->starts_with("missing")) {
        out.append("$-1\r\n");
      } else {
        const std::string value = stub_back_end::value_of(*key);
        out.append("$" + std::to_string(value.size()) + "\r\n" + value + "\r\n");
      }
      in.take(taken);
    }
    if (!write_whole(peer, out.text())) return;
    out.clear();
  }
}

}  // namespace

std::string stub_back_end::value_of(std::string_view key) {
  return "the value of " + std::string(key);
}

stub_back_end::stub_back_end() {
  const listening door;
  address_ = door.address();
  process_ = fork();
  if (process_ < 0) throw std::system_error(errno, std::generic_category(), "fork(2)");
  if (process_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) {
    const int peer = accept4(door.fd(), nullptr, nullptr, SOCK_CLOEXEC);
    if (peer < 0) _exit(1);
    serve(peer);
    close(peer);
  }
}

stub_back_end::~stub_back_end() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

}  // namespace heddle::lab::http
