#include "note.hpp"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "load.hpp"
#include "sys.hpp"
#include "text.hpp"

namespace heddle::trace {

namespace {

struct Reason {
  int error;
  const char* words;
  const char* remedy;
};

// strerror may allocate and translate.
constexpr Reason kReasons[] = {
    {ENOSPC, "no space left on the device", "free some, or record elsewhere: heddle record -o DIR"},
    {EDQUOT, "disk quota exceeded", "record elsewhere: heddle record -o DIR"},
    {EFBIG, "file size limit reached", "raise it: ulimit -f unlimited"},
    {EMFILE, "too many open files in this process", "raise the limit: ulimit -n 65536"},
    {ENFILE, "too many open files in the system", "raise fs.file-max"},
    {ENOMEM, "out of memory, address space or mappings",
     "raise the limit: ulimit -v unlimited, sysctl vm.max_map_count"},
    {EACCES, "permission denied", "record into a directory of your own: heddle record -o DIR"},
    {EPERM, "operation not permitted", "record elsewhere: heddle record -o DIR"},
    {EROFS, "read-only file system", "record elsewhere: heddle record -o DIR"},
    {ENOENT, "no such directory",
     "was it removed, or did the program chroot? record elsewhere: heddle record -o DIR"},
    {ESTALE, "it is another directory than the one that recording began in",
     "was that moved? let it stay while programs record"},
    {ENOTEMPTY, "it holds other files and is no trace",
     "record into a new directory: heddle record -o DIR"},
    {ENOTDIR, "not a directory", "record elsewhere: heddle record -o DIR"},
    {ESRCH, "heddle record, which knows the names, is gone", "run it again"},
    {ENODATA, "its list of modules was cut or removed", "let the trace alone while it is recorded"},
    {ETIMEDOUT, "heddle record does not answer", "is it stopped?"},
    {ENODEV, "no regular file", "let the trace alone while it is recorded"},
    {ENXIO, "no regular file", "let the trace alone while it is recorded"},
    {EISDIR, "no regular file", "let the trace alone while it is recorded"},
    {ELOOP, "a link, which is not followed", "let the trace alone while it is recorded"},
    {EPROTO, "what heddle record answered is damaged", "let the trace alone while it is recorded"},
    {ENAMETOOLONG, "path too long", "record into a shorter path: heddle record -o DIR"},
};

/// Not on the stack, which may be a signal handler's or a fiber's of a few KB. One line is made at
/// a time: trouble is noted once, the other two at exit.
constinit char line[9000] = {};

bool has_room(int fd) {
  pollfd asked{fd, POLLOUT, 0};
  return arch::syscall(SYS_poll, &asked, 1, 0) == 1 && (asked.revents & POLLOUT) != 0;
}

/// Only if descriptor 2 is still what it was at load: a program may have closed it and have its
/// data there now.
void say(const Text& text) {
  struct stat status;
  if (!loaded.stderr_open || arch::syscall(SYS_fstat, STDERR_FILENO, &status) < 0) return;
  if (status.st_dev != loaded.stderr_device || status.st_ino != loaded.stderr_inode) return;
  if (!loaded.stderr_may_fill) {
    sys::write_all(STDERR_FILENO, text.c_str(), text.size());
    return;
  }
  // Where nobody reads, the line is lost: the program must not wait for it. A pipe that can be
  // written to has room for PIPE_BUF bytes.
  const std::size_t all = text.size();
  for (std::size_t at = 0; at < all && has_room(STDERR_FILENO);) {
    const std::size_t bytes = all - at < PIPE_BUF ? all - at : PIPE_BUF;
    if (sys::write_all(STDERR_FILENO, text.c_str() + at, bytes) <= 0) return;
    at += bytes;
  }
}

void explain(Text& text, long error) {
  for (const Reason& reason : kReasons) {
    if (reason.error == -error) {
      text << reason.words << "; " << reason.remedy << '\n';
      return;
    }
  }
  (text << "error ").decimal(static_cast<std::uint64_t>(-error)) << '\n';
}

}  // namespace

void note_trouble(bool& noted, const char* what, const char* path, long error) {
  if (__atomic_exchange_n(&noted, true, __ATOMIC_RELAXED)) return;
  Text text(line, sizeof line);
  text << "heddle: " << what << ' ' << path << ": ";
  explain(text, error);
  say(text);
}

void note_unplanned(const char* path, long error) {
  Text text(line, sizeof line);
  text << "heddle: no plan for " << path
       << ", so functions of modules from here on match no pattern: ";
  explain(text, error);
  say(text);
}

void note_blind(long error) {
  Text text(line, sizeof line);
  (text
   << "heddle: coroutines were not told apart, because process_vm_readv(2) fails here with error ")
          .decimal(static_cast<std::uint64_t>(-error))
      << ": does a sandbox forbid it?\n";
  say(text);
}

void note_barred() {
  say(Text(line, sizeof line) << "heddle: recording ends here: the program gives up system calls "
                                 "that it needs (seccomp)\n");
}

void note_lost(std::uint64_t events) {
  Text text(line, sizeof line);
  (text << "heddle: ").decimal(events) << " events were not recorded\n";
  say(text);
}

void note_recorded(const char* program, std::uint32_t pid, const char* directory) {
  Text text(line, sizeof line);
  (text << "heddle: recorded " << program << " (pid ").decimal(pid)
      << ") in " << directory << " — print it with: heddle replay " << directory << '\n';
  say(text);
}

}  // namespace heddle::trace
