#include "workloads/http/reception.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "harness/throw_errno.hpp"

namespace heddle::lab::http {
reception::reception(int door, std::initializer_list<int> signals) : door_(door) {
  // A client that poll() has seen may be gone before it is accepted.
  if (fcntl(door_, F_SETFL, O_NONBLOCK) != 0) throw_errno("fcntl(2)");
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int each : signals) sigaddset(&wanted, each);
  signals_ = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) throw_errno("signalfd(2)");
}

reception::~reception() { close(signals_); }

reception::arrival reception::next(bool with_clients, std::chrono::milliseconds limit) {
  pollfd sources[] = {{.fd = signals_, .events = POLLIN, .revents = 0},
                      {.fd = with_clients ? door_ : -1, .events = POLLIN, .revents = 0}};
  const int ready = poll(sources, 2, static_cast<int>(limit.count()));
  if (ready < 0 && errno != EINTR) throw_errno("poll(2)");
  if (ready <= 0) return {};
  if (sources[0].revents != 0) {
    signalfd_siginfo come;
    if (read(signals_, &come, sizeof come) == sizeof come) {
      return {.client = -1, .signal = static_cast<int>(come.ssi_signo)};
    }
  }
  if (sources[1].revents == 0) return {};
  return {.client = accept4(door_, nullptr, nullptr, SOCK_CLOEXEC), .signal = 0};
}

}  // namespace heddle::lab::http
