// prctl and syscall (seccomp), where a program gives system calls up. A filter that kills for a
// system call of the recorder's would kill the program when its next block is full, and strict mode
// takes the clock away, too (RDTSC is a SIGSEGV there). So what a filter says of these is looked up
// before it is installed, and recording ends there.
#include <linux/audit.h>
#include <linux/futex.h>
#include <linux/prctl.h>

#include "interpose.hpp"
#include "load.hpp"
#include "note.hpp"
#include "quiet.hpp"
#include "recording.hpp"
#include "seccomp_filter.hpp"
#include "stack_bounds.hpp"

using SystemCall = long(long, ...);
extern "C" {
[[gnu::visibility("hidden")]] extern constinit SystemCall* heddle_real_syscall;
constinit SystemCall* heddle_real_syscall = nullptr;
}

namespace heddle::trace {

namespace {

using Prctl = int(int, unsigned long, unsigned long, unsigned long, unsigned long);
constinit Prctl* real_prctl = nullptr;

/// A system call as the recorder makes it, as far as filters look at the arguments.
struct Needed {
  int number;
  std::uint64_t arguments[6];
};
constexpr Needed kNeeded[] = {
    {SYS_rt_sigprocmask, {SIG_BLOCK, 0, 0, 8}},
    {SYS_openat,
     {static_cast<std::uint32_t>(AT_FDCWD), 0, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK}},
    {SYS_openat, {static_cast<std::uint32_t>(AT_FDCWD), 0, O_WRONLY | O_CREAT | O_CLOEXEC, 0600}},
    {SYS_openat,
     {static_cast<std::uint32_t>(AT_FDCWD), 0, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC}},
    {SYS_fstat, {3}},
    {SYS_read, {3}},
    {SYS_ioctl, {3, kProcmapQuery}},
    {SYS_getpid, {}},
    {SYS_geteuid, {}},
    {SYS_fallocate, {3}},
    {SYS_fstatfs, {3}},
    {SYS_mmap, {0, kSlotBytes, PROT_READ | PROT_WRITE, MAP_SHARED, 3}},
    {SYS_munmap, {0, kSlotBytes}},
    {SYS_madvise, {0, 0, MADV_DONTFORK}},
    {SYS_pwrite64, {3}},
    {SYS_pwritev, {3}},
    {SYS_close, {3}},
    {SYS_futex, {0, 1, 1}},
    {SYS_nanosleep, {}},
    {SYS_clock_gettime, {CLOCK_MONOTONIC_RAW}},
    {SYS_gettid, {}},
};

/// A trap is no better: signals are blocked where the recorder makes most of its calls.
bool kills(std::uint32_t action) {
  switch (action & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_ERRNO:
    case SECCOMP_RET_USER_NOTIF:
    case SECCOMP_RET_TRACE:
    case SECCOMP_RET_LOG:
    case SECCOMP_RET_ALLOW:
      return false;
    default:
      return true;
  }
}

/// Whether the filter is there to be read: for one that is not, the kernel's answer is EFAULT, by
/// which programs ask whether filters can be had.
bool there(const sock_fprog* program) {
  const auto words = reinterpret_cast<std::uint64_t>(program);
  if (!sys::readable(words) || !sys::readable(words + 8)) return false;
  const std::uint32_t length = program->len;
  if (length == 0 || length > BPF_MAXINSNS) return false;
  constexpr std::uint32_t kPage = 4096 / sizeof(sock_filter);
  for (std::uint32_t at = 0; at < length; at += kPage) {
    if (!sys::readable(reinterpret_cast<std::uint64_t>(program->filter + at))) return false;
  }
  return sys::readable(reinterpret_cast<std::uint64_t>(program->filter + length - 1));
}

/// Whether the kernel installs a filter: not without either of these.
bool takes(const sock_fprog* program) {
  return there(program) && (arch::syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
                            arch::syscall(SYS_geteuid) == 0);
}

bool kills_for(const sock_fprog& program, const Needed& needed) {
  seccomp_data call{};
  call.nr = needed.number;
  call.arch = AUDIT_ARCH_X86_64;
  for (unsigned i = 0; i < 6; ++i) call.args[i] = needed.arguments[i];
  return kills(seccomp_action(program, call));
}

bool kills_us(const sock_fprog& program) {
  for (const Needed& needed : kNeeded) {
    if (kills_for(program, needed)) return true;
  }
  return false;
}

/// From here on the recorder makes no system call, and the functions that stand in front of libc's
/// do no more than these.
void bar() {
  loaded.sched = false;
  __atomic_store_n(&loaded.allocation, false, __ATOMIC_RELAXED);
  __atomic_store_n(&loaded.barred, true, __ATOMIC_SEQ_CST);
}

/// The filter may be installed in all threads at once (SECCOMP_FILTER_FLAG_TSYNC): those that have
/// begun a system call of the recorder's end it first. Each that is at work is counted; one that is
/// about to be, or has just been, has the first pause. Not for ever: a thread may be stopped.
void wait_for_others(const ProcessHeader& header) {
  const timespec pause{0, 1'000'000};
  int pauses = 0;
  do {
    // By futex(2), which no earlier filter kills for: it is needed.
    std::uint32_t nobody = 0;
    arch::syscall(SYS_futex, &nobody, FUTEX_WAIT, 0, &pause, nullptr, 0);
  } while (__atomic_load_n(&header.at_work, __ATOMIC_SEQ_CST) != 0 && ++pauses < 100);
}

/// Ends recording in all threads: those that come later inherit the filter.
void stop() {
  const Quiet quiet;
  note_barred();
  Process* const current = process();
  if (current == nullptr || current->state != Recording::kRunning) {
    bar();
    return;
  }
  (void)update_modules(*current, true);
  process_in_trouble(*current, -EPERM);
  {
    const Locked locked(current->lock);
    process_stamp(*current);
    bar();
    current->paused = true;  // also what is counted beside the calls
    for (Thread* thread = current->threads; thread != nullptr; thread = thread->next) {
      thread->full = true;
      publish(*current, *thread);
    }
  }
  if (current->threads != nullptr) wait_for_others(*current->header);
}

void before(unsigned long mode, const sock_fprog* program) {
  if (loaded.barred || loaded.secure) return;
  if (mode == SECCOMP_MODE_STRICT) return stop();
  if (mode != SECCOMP_MODE_FILTER || !takes(program)) return;
  if (kills_us(*program)) return stop();
  // Recording goes on, but the program may not say what goes wrong.
  if (kills_for(*program, {SYS_write, {STDERR_FILENO}}) ||
      (loaded.stderr_may_fill && kills_for(*program, {SYS_poll, {}}))) {
    loaded.stderr_open = false;
  }
  // What pointers point to is not there any more.
  if (kills_for(*program, {SYS_process_vm_readv, {}})) loaded.blind = true;
  if (kills_for(*program, {SYS_readlink, {}})) loaded.linkless = true;
}

}  // namespace

void find_seccomp() {
  (void)next(real_prctl, "prctl");
  (void)next(heddle_real_syscall, "syscall");
}

}  // namespace heddle::trace

extern "C" {

/// Called by our syscall (arch/x86_64_syscall.S) before it jumps to the real one, which it returns.
[[gnu::visibility("hidden")]] void* heddle_before_syscall(long number, unsigned long operation,
                                                          unsigned long,
                                                          const sock_fprog* program) {
  using namespace heddle::trace;
  if (number == SYS_seccomp) {
    if (operation == SECCOMP_SET_MODE_STRICT) before(SECCOMP_MODE_STRICT, nullptr);
    if (operation == SECCOMP_SET_MODE_FILTER) before(SECCOMP_MODE_FILTER, program);
  }
  return reinterpret_cast<void*>(next(heddle_real_syscall, "syscall"));
}

[[gnu::visibility("default")]] int prctl(int option, unsigned long second, unsigned long third,
                                         unsigned long fourth, unsigned long fifth) {
  using namespace heddle::trace;
  auto* const real = next(real_prctl, "prctl");
  if (option == PR_SET_SECCOMP) before(second, reinterpret_cast<const sock_fprog*>(third));
  return real(option, second, third, fourth, fifth);
}
}
