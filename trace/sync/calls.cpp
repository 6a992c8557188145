// Calls into the kernel that may block: reading, writing, waiting for input, for a child, for a
// time. With HEDDLE_SCHED=1, one that took long leaves a record, which says in what its thread was
// blocked when the kernel took its processor away.
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../interpose.hpp"
#include "../load.hpp"
#include "../text.hpp"
#include "../this_thread.hpp"
#include "format.hpp"

namespace heddle::trace {

namespace {

/// Ticks. By a TSC of 2 to 4 GHz it is 4 to 8 µs; to leave a processor and to come back takes 3 µs
/// at least, and most calls that do not block take less.
constexpr std::uint64_t kLong = 1 << 14;

constexpr int kNoFile = -1;

/// `read 3 pipe:[4711]`. What the descriptor stands for is asked for now: it may be another's
/// already, if another thread has closed it meanwhile.
[[gnu::noinline, gnu::cold]] void tell(const char* name, int file, std::uint64_t since) {
  if (loaded.barred) return;  // since the call began
  char said[256];
  Text text(said, sizeof said);
  text << name;
  if (file >= 0) {
    char path[40], target[160];
    (Text(path, sizeof path) << "/proc/self/fd/").decimal(static_cast<std::uint64_t>(file));
    const long size =
        loaded.linkless ? 0 : arch::syscall(SYS_readlink, path, target, sizeof target - 1);
    (text << ' ').decimal(static_cast<std::uint64_t>(file));
    if (size > 0) {
      target[size] = '\0';
      text << ' ' << target;
    }
  }
  // Of the stack that the program's code has, some bytes below.
  const auto stack = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  with_this_thread([&](Process& process, Thread& thread) {
    return append_text(process, thread, kLongCall, since, text.c_str(), stack);
  });
}

/// Calls the real function, and tells of it if that took long. Where the thread is cancelled, or a
/// handler jumps away, nothing is told.
template <typename Function, typename... Arguments>
[[gnu::always_inline]] inline auto call(Function* real, const char* name, int file,
                                        Arguments... arguments) {
  if (!loaded.sched) return real(arguments...);
  const std::uint64_t since = ticks();
  const auto result = real(arguments...);
  if (ticks() - since >= kLong) [[unlikely]]
    tell(name, file, since);
  return result;
}

}  // namespace

}  // namespace heddle::trace

using namespace heddle::trace;

/// A function of ours by the name of libc's: its result, its name, its parameters in parentheses,
/// the descriptor that it is about, and its arguments. The real one is looked for when the library
/// is loaded: a signal handler may need it first, where dlsym must not be called.
#define HEDDLE_BLOCKING(Result, name, parameters, file, ...)                         \
  using Function_##name = Result parameters;                                         \
  static constinit Function_##name* real_##name = nullptr;                           \
  [[gnu::constructor]] static void find_##name() { (void)next(real_##name, #name); } \
  extern "C" [[gnu::visibility("default")]] Result name parameters {                 \
    return call(next(real_##name, #name), #name, file, __VA_ARGS__);                 \
  }

extern "C" {
// What the headers call with _FORTIFY_SOURCE, and declare only then.
ssize_t __read_chk(int file, void* to, size_t bytes, size_t room);
ssize_t __pread_chk(int file, void* to, size_t bytes, off_t at, size_t room);
ssize_t __recv_chk(int file, void* to, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int file, void* to, size_t bytes, size_t room, int flags, sockaddr* from,
                       socklen_t* size);
int __poll_chk(pollfd* files, nfds_t count, int timeout, size_t room);
}

HEDDLE_BLOCKING(ssize_t, read, (int file, void* to, size_t bytes), file, file, to, bytes)
HEDDLE_BLOCKING(ssize_t, __read_chk, (int file, void* to, size_t bytes, size_t room), file, file,
                to, bytes, room)
HEDDLE_BLOCKING(ssize_t, readv, (int file, const iovec* parts, int count), file, file, parts, count)
HEDDLE_BLOCKING(ssize_t, pread, (int file, void* to, size_t bytes, off_t at), file, file, to, bytes,
                at)
HEDDLE_BLOCKING(ssize_t, pread64, (int file, void* to, size_t bytes, off64_t at), file, file, to,
                bytes, at)
HEDDLE_BLOCKING(ssize_t, __pread_chk, (int file, void* to, size_t bytes, off_t at, size_t room),
                file, file, to, bytes, at, room)
HEDDLE_BLOCKING(ssize_t, write, (int file, const void* from, size_t bytes), file, file, from, bytes)
HEDDLE_BLOCKING(ssize_t, writev, (int file, const iovec* parts, int count), file, file, parts,
                count)
HEDDLE_BLOCKING(ssize_t, pwrite, (int file, const void* from, size_t bytes, off_t at), file, file,
                from, bytes, at)
HEDDLE_BLOCKING(ssize_t, pwrite64, (int file, const void* from, size_t bytes, off64_t at), file,
                file, from, bytes, at)
HEDDLE_BLOCKING(ssize_t, sendfile, (int to, int from, off_t* at, size_t bytes), to, to, from, at,
                bytes)
HEDDLE_BLOCKING(int, fsync, (int file), file, file)
HEDDLE_BLOCKING(int, fdatasync, (int file), file, file)

HEDDLE_BLOCKING(ssize_t, recv, (int file, void* to, size_t bytes, int flags), file, file, to, bytes,
                flags)
HEDDLE_BLOCKING(ssize_t, __recv_chk, (int file, void* to, size_t bytes, size_t room, int flags),
                file, file, to, bytes, room, flags)
HEDDLE_BLOCKING(ssize_t, recvfrom,
                (int file, void* to, size_t bytes, int flags, sockaddr* from, socklen_t* size),
                file, file, to, bytes, flags, from, size)
HEDDLE_BLOCKING(ssize_t, __recvfrom_chk,
                (int file, void* to, size_t bytes, size_t room, int flags, sockaddr* from,
                 socklen_t* size),
                file, file, to, bytes, room, flags, from, size)
HEDDLE_BLOCKING(ssize_t, recvmsg, (int file, msghdr* message, int flags), file, file, message,
                flags)
HEDDLE_BLOCKING(ssize_t, send, (int file, const void* from, size_t bytes, int flags), file, file,
                from, bytes, flags)
HEDDLE_BLOCKING(ssize_t, sendto,
                (int file, const void* from, size_t bytes, int flags, const sockaddr* to,
                 socklen_t size),
                file, file, from, bytes, flags, to, size)
HEDDLE_BLOCKING(ssize_t, sendmsg, (int file, const msghdr* message, int flags), file, file, message,
                flags)
HEDDLE_BLOCKING(int, accept, (int file, sockaddr* from, socklen_t* size), file, file, from, size)
HEDDLE_BLOCKING(int, accept4, (int file, sockaddr* from, socklen_t* size, int flags), file, file,
                from, size, flags)
HEDDLE_BLOCKING(int, connect, (int file, const sockaddr* to, socklen_t size), file, file, to, size)

// Of these calls no descriptor is named: there may be several, and the list of them may be wrong.
HEDDLE_BLOCKING(int, poll, (pollfd * files, nfds_t count, int timeout), kNoFile, files, count,
                timeout)
HEDDLE_BLOCKING(int, __poll_chk, (pollfd * files, nfds_t count, int timeout, size_t room), kNoFile,
                files, count, timeout, room)
HEDDLE_BLOCKING(int, ppoll,
                (pollfd * files, nfds_t count, const timespec* timeout, const sigset_t* mask),
                kNoFile, files, count, timeout, mask)
HEDDLE_BLOCKING(int, select, (int count, fd_set* in, fd_set* out, fd_set* other, timeval* timeout),
                kNoFile, count, in, out, other, timeout)
HEDDLE_BLOCKING(int, pselect,
                (int count, fd_set* in, fd_set* out, fd_set* other, const timespec* timeout,
                 const sigset_t* mask),
                kNoFile, count, in, out, other, timeout, mask)
HEDDLE_BLOCKING(int, epoll_wait, (int file, epoll_event* events, int room, int timeout), file, file,
                events, room, timeout)
HEDDLE_BLOCKING(int, epoll_pwait,
                (int file, epoll_event* events, int room, int timeout, const sigset_t* mask), file,
                file, events, room, timeout, mask)

HEDDLE_BLOCKING(int, nanosleep, (const timespec* time, timespec* left), kNoFile, time, left)
HEDDLE_BLOCKING(int, clock_nanosleep,
                (clockid_t clock, int flags, const timespec* time, timespec* left), kNoFile, clock,
                flags, time, left)
HEDDLE_BLOCKING(int, usleep, (useconds_t time), kNoFile, time)
HEDDLE_BLOCKING(unsigned, sleep, (unsigned time), kNoFile, time)

HEDDLE_BLOCKING(pid_t, wait, (int* status), kNoFile, status)
HEDDLE_BLOCKING(pid_t, waitpid, (pid_t child, int* status, int flags), kNoFile, child, status,
                flags)
HEDDLE_BLOCKING(pid_t, wait4, (pid_t child, int* status, int flags, rusage* use), kNoFile, child,
                status, flags, use)
HEDDLE_BLOCKING(int, waitid, (idtype_t which, id_t child, siginfo_t* about, int flags), kNoFile,
                which, child, about, flags)
HEDDLE_BLOCKING(int, sigsuspend, (const sigset_t* mask), kNoFile, mask)
HEDDLE_BLOCKING(int, sigwait, (const sigset_t* signals, int* which), kNoFile, signals, which)
