#include "load.hpp"

#include <sys/auxv.h>
#include <unistd.h>

#include "format.hpp"
#include "sys.hpp"
#include "text.hpp"

namespace heddle::trace {

constinit Loaded loaded{};

namespace {

/// The environment as the kernel gave it to the program: strings one after another, an empty one at
/// the end. Null where libc's `environ` is set, which it is not yet while ld.so calls the functions
/// of the program's .preinit_array, before any library's constructor.
constinit const char* kernel_environment = nullptr;

const char* read_kernel_environment() {
  for (std::size_t room = std::size_t{1} << 16;; room *= 2) {
    void* const block =
        sys::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    if (sys::failed(block)) return "";
    char* const text = static_cast<char*>(block);
    if (sys::read_file("/proc/self/environ", text, room - 2) < room - 2) return text;
    sys::munmap(block, room);
  }
}

/// getenv may be the program's own (bash has one), so the environment is read by hand.
const char* value_of(Variable variable) {
  const char* const name_and_equals = name_of(variable);
  const char* value = nullptr;
  if (kernel_environment != nullptr) {
    for (const char* entry = kernel_environment; *entry != '\0' && value == nullptr;) {
      value = after(name_and_equals, entry);
      while (*entry++ != '\0') {
      }
    }
    return value;
  }
  for (char** entry = environ; *entry != nullptr && value == nullptr; ++entry) {
    value = after(name_and_equals, *entry);
  }
  return value;
}

bool equal(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

std::uint64_t number(const char* digits) {
  std::uint64_t value = 0;
  for (; *digits >= '0' && *digits <= '9'; ++digits) {
    value = value * 10 + static_cast<std::uint64_t>(*digits - '0');
  }
  return value;
}

/// Reads a number and the colon behind it; false: there is none.
bool read_number(const char*& text, std::uint64_t& found) {
  found = number(text);
  while (*text >= '0' && *text <= '9') ++text;
  return *text++ == ':';
}

/// `device:inode:path` of the directory that heddle record has made. Where a program names another
/// one, that is no trace of heddle record's.
void read_identity(const char* text, const char* directory) {
  std::uint64_t device = 0, inode = 0;
  if (!read_number(text, device) || !read_number(text, inode)) return;
  if (!equal(text, directory)) return;
  loaded.device = device;
  loaded.inode = inode;
  loaded.identified = true;
}

/// Without heddle record, the directory may be named by a link, which is followed once: what takes
/// the link's place later is not.
void follow_link() {
  char* const path = loaded.directory;
  std::size_t size = length(path);
  while (size > 1 && path[size - 1] == '/') path[--size] = '\0';
  static char found[sizeof loaded.directory];
  if (sys::readlink(path, found, sizeof found) < 0) return;
  const long fd = sys::open(path, O_PATH | O_DIRECTORY);
  if (fd < 0) return;
  char link[32];
  (Text(link, sizeof link) << "/proc/self/fd/").decimal(static_cast<std::uint64_t>(fd));
  const long got = sys::readlink(link, found, sizeof found - 1);
  sys::close(fd);
  if (got <= 0 || found[0] != '/') return;
  found[got] = '\0';
  Text(path, sizeof loaded.directory) << found;
}

std::uint64_t number_of(Variable variable) {
  const char* digits = value_of(variable);
  return digits != nullptr ? number(digits) : 0;
}

/// Whether nothing is in the open directory. False, too, where it cannot be read.
bool is_empty(long directory) {
  const long fd = sys::open_in(directory, ".", O_RDONLY | O_DIRECTORY);
  if (fd < 0) return false;
  struct Entry {
    std::uint64_t inode, offset;
    std::uint16_t bytes;
    std::uint8_t type;
    char name[1];
  };
  alignas(Entry) char entries[512];
  bool empty = true;
  long bytes = 0;
  do {
    bytes = arch::syscall(SYS_getdents64, fd, entries, sizeof entries);
    for (long at = 0; at < bytes;) {
      const auto& entry = *reinterpret_cast<const Entry*>(entries + at);
      empty = empty && (equal(entry.name, ".") || equal(entry.name, ".."));
      at += entry.bytes;
    }
  } while (bytes > 0 && empty);
  sys::close(fd);
  return empty && bytes == 0;
}

/// Whether the open file holds the marker's text, or as much of it as the process that makes it has
/// written.
bool is_marker(long fd) {
  char text[sizeof kMarkerText];
  const long size = sys::read(fd, text, sizeof text);
  if (size < 0 || size >= static_cast<long>(sizeof kMarkerText)) return false;
  for (long i = 0; i < size; ++i) {
    if (text[i] != kMarkerText[i]) return false;
  }
  return true;
}

/// -EEXIST if there is a marker already.
long write_marker(long trace) {
  const long fd = sys::open_in(trace, kMarkerName, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (fd < 0) return fd;
  const long written = sys::write_all(fd, kMarkerText, sizeof kMarkerText - 1);
  sys::close(fd);
  if (written == static_cast<long>(sizeof kMarkerText - 1)) return 0;
  arch::syscall(SYS_unlinkat, trace, kMarkerName, 0);
  return written < 0 ? written : -ENOSPC;
}

}  // namespace

long mark_trace(long trace) {
  // Another process may mark it between two looks.
  for (int look = 0; look < 2; ++look) {
    const long fd = sys::open_in(trace, kMarkerName, O_RDONLY);
    if (fd >= 0) {
      const bool ours = is_marker(fd);
      sys::close(fd);
      return ours ? 0 : -ENOTEMPTY;
    }
    if (fd != -ENOENT) return fd == -ELOOP ? -ENOTEMPTY : fd;
    if (!is_empty(trace)) continue;
    const long error = write_marker(trace);
    if (error != -EEXIST) return error;
  }
  return -ENOTEMPTY;
}

namespace {

/// Opens it, if it is ours and no link. `status` is what is there, also where that is another
/// user's.
long open_directory(struct stat& status) {
  const long fd = sys::open(loaded.directory, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  if (fd < 0) return fd;
  long error = arch::syscall(SYS_fstat, fd, &status);
  if (error == 0 && status.st_uid != static_cast<uid_t>(arch::syscall(SYS_geteuid))) {
    error = -EACCES;
  }
  if (error == 0) return fd;
  sys::close(fd);
  return error;
}

}  // namespace

long open_trace() {
  struct stat status {};
  const long fd = open_directory(status);
  if (!loaded.identified || (fd < 0 && status.st_ino == 0 && fd != -ENOTDIR)) return fd;
  if (status.st_dev == loaded.device && status.st_ino == loaded.inode) return fd;
  if (fd >= 0) sys::close(fd);
  return -ESTALE;
}

long open_in_trace(const char* name, int flags, unsigned mode) {
  const long trace = open_trace();
  if (trace < 0) return trace;
  const long fd = sys::open_in(trace, name, flags, mode);
  sys::close(trace);
  return fd;
}

namespace {

/// ./heddle.trace.<pid>; with .1, .2 … behind it where one is there already: an earlier program
/// image of this process (exec), or an old process with the same pid.
long make_bare_directory(std::uint32_t pid) {
  Text text = Text(loaded.directory, sizeof loaded.directory) << loaded.working << "/heddle.trace.";
  text.decimal(pid);
  const std::size_t stem = text.size();
  for (std::uint64_t attempt = 1;; ++attempt) {
    if (!text.fits()) return -ENAMETOOLONG;
    const long result = sys::mkdir(loaded.directory);
    if (result == 0) {
      loaded.made_by = pid;
      return 0;
    }
    if (result != -EEXIST) return result;
    text.cut(stem);
    (text << '.').decimal(attempt);
  }
}

}  // namespace

void load() {
  if (loaded.done) return;
  loaded.done = true;
  // As the loader does with LD_PRELOAD: a system-wide preload (/etc/ld.so.preload) gets here, and
  // who started a set-user-ID program shall not choose where that writes.
  loaded.secure = getauxval(AT_SECURE) != 0;
  if (loaded.secure) {
    loaded.bare = true;
    return;
  }
  if (environ == nullptr) kernel_environment = read_kernel_environment();
  if (arch::syscall(SYS_getcwd, loaded.working, sizeof loaded.working) < 0) {
    Text(loaded.working, sizeof loaded.working) << '.';
  }
  if (loaded.working[1] == '\0') loaded.working[0] = '\0';  // "/": what follows brings the slash
  const char* directory = value_of(Variable::kDirectory);
  loaded.bare = directory == nullptr || *directory == '\0';
  if (!loaded.bare) {
    Text text(loaded.directory, sizeof loaded.directory);
    if (*directory != '/') text << loaded.working << '/';
    text << directory;
    const char* const identity = value_of(Variable::kIdentity);
    if (identity != nullptr) read_identity(identity, directory);
    if (!loaded.identified) follow_link();
  }
  const char* clock = value_of(Variable::kClock);
  loaded.sparse = clock != nullptr && equal(clock, "sparse");
  const char* paused = value_of(Variable::kPaused);
  loaded.paused = paused != nullptr && equal(paused, "1");
  const char* redact = value_of(Variable::kRedact);
  loaded.redact = redact != nullptr && equal(redact, "1");
  const char* values = value_of(Variable::kValues);
  loaded.values = values != nullptr && equal(values, "1");
  const char* sched = value_of(Variable::kSched);
  loaded.sched = sched != nullptr && equal(sched, "1");
  const char* coroutines = value_of(Variable::kCoroutines);
  if (coroutines != nullptr && equal(coroutines, "auto")) loaded.coroutines = Coroutines::kPlanned;
  if (coroutines != nullptr && equal(coroutines, "scan")) loaded.coroutines = Coroutines::kLooked;
  loaded.snapshot_signal = static_cast<std::uint32_t>(number_of(Variable::kSnapshotSignal));
  loaded.flight = number_of(Variable::kFlight);
  loaded.patterns = static_cast<std::uint32_t>(number_of(Variable::kPatterns));
  loaded.depth = static_cast<std::uint32_t>(number_of(Variable::kDepth));
  loaded.min_ns = number_of(Variable::kMinTime);
  struct stat status;
  loaded.stderr_open = arch::syscall(SYS_fstat, STDERR_FILENO, &status) == 0;
  loaded.stderr_device = status.st_dev;
  loaded.stderr_inode = status.st_ino;
  loaded.stderr_may_fill = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
}

long join_trace(std::uint32_t pid) {
  if (loaded.bare && loaded.made_by == 0) {
    const long error = make_bare_directory(pid);
    if (error != 0) return error;
  }
  if (loaded.identified) return open_trace();
  if (!loaded.bare) {
    const long made = sys::mkdir(loaded.directory);
    if (made != 0 && made != -EEXIST) return made;
  }
  struct stat status;
  const long trace = open_directory(status);
  if (trace < 0) return trace;
  const long error = mark_trace(trace);
  if (error != 0) {
    sys::close(trace);
    return error;
  }
  loaded.device = status.st_dev;
  loaded.inode = status.st_ino;
  loaded.identified = true;
  return trace;
}

}  // namespace heddle::trace
