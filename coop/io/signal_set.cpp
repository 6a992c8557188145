#include "heddle/coop/io/signal_set.hpp"

#include <pthread.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

#include "core.hpp"
#include "polled.hpp"

namespace heddle::coop::io {

using detail::operation;
using detail::polled_state;
using detail::verb;

signal_set::next_awaitable::next_awaitable(const detail::file_ref& from)
    : into_(sizeof(signalfd_siginfo)), read_(new operation(verb::read, from, into_)) {}

result<signal_event> signal_set::next_awaitable::get() const {
  const result<std::size_t> read = read_.get();
  if (!read) return {read.error().value(), "a wait for signals"};
  signalfd_siginfo come;
  std::memcpy(&come, into_.data(), sizeof come);
  return result(signal_event{static_cast<int>(come.ssi_signo), static_cast<pid_t>(come.ssi_pid),
                             come.ssi_uid, come.ssi_int});
}

signal_set::signal_set(const service& by, std::initializer_list<int> signals) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int each : signals) {
    if (sigaddset(&wanted, each) != 0) {
      throw std::invalid_argument("there is no signal " + std::to_string(each));
    }
  }
  detail::core& core = by.core();
  core.allow_sockets();
  auto* const state = new polled_state(&core, "signals");
  core.acquire();
  state_ = detail::file_ref(state);
  state->nonblocking = core.nonblocking();
  state->fd = signalfd(-1, &wanted, SFD_CLOEXEC | (state->nonblocking ? SFD_NONBLOCK : 0));
  if (state->fd < 0) throw std::system_error(errno, std::generic_category(), "signalfd(2)");
  pthread_sigmask(SIG_BLOCK, &wanted, &before_);
}

signal_set::~signal_set() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace heddle::coop::io
