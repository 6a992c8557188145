#include "fork.hpp"

#include <pthread.h>

#include "making.hpp"
#include "quiet.hpp"
#include "thread.hpp"

namespace heddle::trace {

namespace {

constexpr std::uint64_t kFork = std::uint64_t{1} << 32;

/// Its handlers may call hooks, which must not wait for it: other locks are held there.
constinit __thread bool forking __attribute__((tls_model("initial-exec"))) = false;

/// What the child's header will say. The child's only thread is a copy of the one that forks.
constinit __thread Fork fork_of_child __attribute__((tls_model("initial-exec"))) = {};

/// The calls that are open here are open in the child, too, where their ends are recorded.
Fork record_fork(Process& process) {
  const std::uint32_t making = record_making(process, Making::kProcess);
  if (making == 0) return {};
  const ProcessHeader& header = *process.header;
  return {header.first.ticks, header.pid, local.self->about.thread, making};
}

/// False after a second.
template <typename Condition>
bool wait_for(Condition condition) {
  const timespec pause{0, 50'000};
  for (int i = 0; i < 20'000; ++i) {
    if (condition()) return true;
    arch::syscall(SYS_nanosleep, &pause, nullptr);
  }
  return false;
}

void before_fork() {
  Process* const current = process();
  if (current == nullptr || forking) return;
  const Quiet quiet;
  fork_of_child = record_fork(*current);
  std::uint64_t& word = current->modules.gate.word;
  forking = true;
  __atomic_fetch_add(&word, kFork, __ATOMIC_ACQ_REL);
  // A thread that the loader lets wait longer than that waits for this thread.
  (void)wait_for([&word] { return __atomic_load_n(&word, __ATOMIC_ACQUIRE) % kFork == 0; });
}

void in_parent() {
  if (!forking) return;
  __atomic_fetch_sub(&process_or_barred()->modules.gate.word, kFork, __ATOMIC_ACQ_REL);
  forking = false;
}

/// The gate is wiped, as is all of the process block.
void in_child() {
  forking = false;
  Process* const current = process();
  if (current == nullptr) return;
  identify(*current);
  current->fork = fork_of_child;
}

}  // namespace

bool enter(ForkGate& gate) {
  if (__atomic_fetch_add(&gate.word, 1, __ATOMIC_ACQ_REL) < kFork || forking) return true;
  leave(gate);
  return false;
}

void leave(ForkGate& gate) { __atomic_fetch_sub(&gate.word, 1, __ATOMIC_ACQ_REL); }

bool enter_when_free(ForkGate& gate) {
  return wait_for([&gate] { return enter(gate); });
}

void prepare_forks() { (void)pthread_atfork(before_fork, in_parent, in_child); }

}  // namespace heddle::trace
