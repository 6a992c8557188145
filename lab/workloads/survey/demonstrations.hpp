#pragma once

#include <csignal>
#include <string>

namespace heddle::lab::surveying {

/// Notes when it is destructed.
struct guard {
  bool& destructed;
  ~guard() { destructed = true; }
};

inline thread_local int of_a_thread = 0;

/// Blocks SIGUSR2, or unblocks it, in the running flow's signal mask.
inline void block_signal(bool block) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  pthread_sigmask(block ? SIG_BLOCK : SIG_UNBLOCK, &one, nullptr);
}

[[nodiscard]] inline bool signal_is_blocked() {
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return sigismember(&now, SIGUSR2) == 1;
}

/// The order of events if a function that is called yields for its caller: before the call, the
/// main flow, after the call.
inline const std::string yielded_in_call = "before main after";

}  // namespace heddle::lab::surveying
