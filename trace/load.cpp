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

std::uint64_t number_of(Variable variable) {
  const char* digits = value_of(variable);
  return digits != nullptr ? number(digits) : 0;
}

}  // namespace

long mark_trace(const char* directory) {
  static char path[4200];  // the stack may be small; the process lock is held
  const Text text = Text(path, sizeof path) << directory << '/' << kMarkerName;
  if (!text.fits()) return -ENAMETOOLONG;
  const long fd = sys::open_own(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (fd == -EEXIST) return 0;
  if (fd < 0) return fd;
  const long written = sys::write_all(fd, kMarkerText, sizeof kMarkerText - 1);
  sys::close(fd);
  if (written == static_cast<long>(sizeof kMarkerText - 1)) return 0;
  sys::unlink(path);
  return written < 0 ? written : -ENOSPC;
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
}

const char* trace_directory(std::uint32_t pid, long& error) {
  if (!loaded.bare) {
    error = sys::mkdir(loaded.directory);
    if (error == -EEXIST) error = 0;
  } else {
    error = loaded.made_by != 0 ? 0 : make_bare_directory(pid);
  }
  if (error == 0) error = mark_trace(loaded.directory);
  return error == 0 ? loaded.directory : nullptr;
}

}  // namespace heddle::trace
