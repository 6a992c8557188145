#include "process.hpp"

#include <linux/fs.h>
#include <sys/utsname.h>

#include "coroutines.hpp"
#include "filter.hpp"
#include "load.hpp"
#include "note.hpp"
#include "text.hpp"

namespace heddle::trace {

constinit std::uint32_t process_instance = 0;

namespace {

constinit Process* block = nullptr;
/// What fork leaves to a child that may no longer open it.
constinit Control* known_control = nullptr;

/// 32 hexadecimal digits with dashes in between.
void parse_boot_id(std::uint8_t* to) {
  char text[64];
  const std::size_t size = sys::read_file("/proc/sys/kernel/random/boot_id", text, sizeof text);
  unsigned digits = 0;
  for (std::size_t i = 0; i < size && digits < 32; ++i) {
    const char c = text[i];
    unsigned value;
    if (c >= '0' && c <= '9') {
      value = static_cast<unsigned>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = static_cast<unsigned>(c - 'a') + 10;
    } else {
      continue;
    }
    to[digits / 2] = static_cast<std::uint8_t>(to[digits / 2] << 4 | value);
    ++digits;
  }
}

/// Renames the directory that `heddle record` has made ready, if no process has done so before.
bool take_spare(long trace, const char* name) {
  if (loaded.bare || loaded.flight != 0) return false;
  return arch::syscall(SYS_renameat2, trace, "spare", trace, name, RENAME_NOREPLACE) == 0;
}

/// <trace>/<pid>, or <pid>.1, <pid>.2 … where an earlier program image had this pid.
long make_directory(Process& process, long trace) {
  Text text = Text(process.directory, sizeof process.directory) << loaded.directory << '/';
  const char* const name = process.directory + text.size();
  text.decimal(process.pid);
  const std::size_t stem = text.size();
  for (std::uint64_t attempt = 1;; ++attempt) {
    if (!text.fits()) return -ENAMETOOLONG;
    process.spare = take_spare(trace, name);
    if (process.spare) return 0;
    const long result = sys::mkdir_in(trace, name);
    if (result != -EEXIST) return result;
    text.cut(stem);
    (text << '.').decimal(attempt);
  }
}

/// The bell of the `heddle record` that collects; null if there is none.
Control* map_control() {
  const long fd = open_in_trace("control", O_RDWR);
  if (fd < 0) return nullptr;
  struct stat status;
  void* mapped = nullptr;
  // A store behind the end of a file would be a SIGBUS.
  if (arch::syscall(SYS_fstat, fd, &status) == 0 && status.st_size >= 4096) {
    mapped = sys::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
  }
  sys::close(fd);
  if (mapped == nullptr || sys::failed(mapped)) return nullptr;
  auto* const control = static_cast<Control*>(mapped);
  if (control->magic == kControlMagic && control->version == kVersion) {
    known_control = control;
    return control;
  }
  sys::munmap(mapped, 4096);
  return nullptr;
}

long map_header(Process& process) {
  char(&path)[4224] = process.path;
  const Text text = Text(path, sizeof path) << process.directory << "/process";
  if (!text.fits()) return -ENAMETOOLONG;
  const int fresh = process.spare ? 0 : O_EXCL;
  void* const mapped = sys::map_own(path, O_CREAT | fresh, sizeof(ProcessHeader));
  if (sys::failed(mapped)) return sys::error_of(mapped);
  process.header = static_cast<ProcessHeader*>(mapped);
  return 0;
}

/// With HEDDLE_REDACT, the program's name and that there is more; the rest never gets into the
/// file.
void read_command_line(ProcessHeader& header, Process& process) {
  static_assert(sizeof process.path >= sizeof header.command_line);
  char* const line = loaded.redact ? process.path : header.command_line;
  const std::size_t bytes = sys::read_file("/proc/self/cmdline", line, sizeof header.command_line);
  if (!loaded.redact) return;
  std::size_t end = 0;
  while (end < bytes && line[end] != '\0') ++end;
  for (std::size_t i = 0; i < end; ++i) header.command_line[i] = line[i];
  if (end + 1 < bytes) {
    Text(header.command_line + end + 1, sizeof header.command_line - end - 1) << "[redacted]";
  }
}

/// Stores a negated error, unless one is there.
void note_first(std::uint32_t& trouble, long error) {
  std::uint32_t none = 0;
  __atomic_compare_exchange_n(&trouble, &none, static_cast<std::uint32_t>(-error), false,
                              __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

std::uint32_t asked() {
  return kAskedKnown | (counts_waits() ? kAskedWaits : 0) |
         (counts_allocation() ? kAskedAllocation : 0) | (loaded.sched ? kAskedSwitches : 0);
}

void fill_header(ProcessHeader& header, Process& process, const Stamp& first) {
  header.version = kVersion;
  header.asked = asked();
  header.pid = process.pid;
  header.parent_pid = process.parent;
  header.clock = clock_is_tsc ? Clock::kTsc : Clock::kMonotonicRaw;
  header.ticks_per_second = ticks_per_second();
  header.first = first;
  header.fork = process.fork;
  parse_boot_id(header.boot_id);
  static_assert(sizeof(utsname) <= sizeof process.path && alignof(utsname) == 1);
  auto* const names = reinterpret_cast<utsname*>(process.path);
  if (arch::syscall(SYS_uname, names) == 0) {
    Text(header.host, sizeof header.host) << names->nodename;
  }
  sys::readlink("/proc/self/exe", header.executable, sizeof header.executable - 1);
  read_command_line(header, process);
  __atomic_store_n(&header.magic, kProcessMagic, __ATOMIC_RELEASE);
}

}  // namespace

[[gnu::weak]] bool counts_waits() { return false; }
[[gnu::weak]] bool counts_allocation() { return false; }

Process* process() { return loaded.barred ? nullptr : process_or_barred(); }

Process* process_or_barred() {
  Process* current = __atomic_load_n(&block, __ATOMIC_ACQUIRE);
  if (current != nullptr) return current;
  auto* fresh = static_cast<Process*>(sys::map_wiped_on_fork(sizeof(Process)));
  if (fresh == nullptr) return nullptr;
  if (!__atomic_compare_exchange_n(&block, &current, fresh, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    sys::munmap(fresh, sizeof(Process));
    return current;
  }
  return fresh;
}

void identify(Process& process) {
  process.pid = static_cast<std::uint32_t>(sys::pid());
  process.parent = static_cast<std::uint32_t>(arch::syscall(SYS_getppid));
}

namespace {

/// Where to count the events of threads that cannot record.
std::uint64_t* lost_count(Process& process) {
  if (process.header != nullptr) return &process.header->dropped;
  return process.control != nullptr ? &process.control->lost : &process.lost;
}

/// 0 or a negated error.
long start(Process& process, const Stamp& first) {
  const long trace = join_trace(process.pid);
  if (trace < 0) {
    Text(process.directory, sizeof process.directory) << loaded.directory;
    return trace;
  }
  long error = make_directory(process, trace);
  // Few files are open at a time, as few may be.
  sys::close(trace);
  if (error != 0) return error;
  error = map_header(process);
  if (error != 0) return error;  // the empty directory shows that there was something
  process.stamped = first.ticks;
  fill_header(*process.header, process, first);
  process.control = map_control();
  return 0;
}

void begin_recording(Process& process, const Stamp& first) {
  process.flight = process.header->flight = loaded.flight;
  process.paused = loaded.paused;
  prepare_filter();
  choose_hooks(process);
  Text(process.modules.path, sizeof process.modules.path) << process.directory << "/modules";
  process.modules.trouble_noted = &process.trouble_noted;
  process.modules.told = &process.header->module_bytes;
  process.modules.since = first.ticks;
  process.modules.sum = static_cast<std::uint32_t>(first.ticks);
  process.state = Recording::kRunning;
}

/// Whether the recording in which the process was forked has ended.
bool has_ended() {
  const Control* const parents = known_control;
  // Another program may have cut the file.
  if (parents == nullptr || !sys::readable(reinterpret_cast<std::uint64_t>(&parents->inode))) {
    return false;
  }
  return __atomic_load_n(&parents->ended, __ATOMIC_RELAXED) != 0;
}

/// Whether that is so, and its directory's name is another recording's by now, or nobody's: what
/// the process does belongs into none.
bool is_over() {
  if (!has_ended()) return false;
  const long fd = open_trace();
  if (fd < 0) return true;
  struct stat status;
  const bool same =
      arch::syscall(SYS_fstat, fd, &status) == 0 && status.st_ino == known_control->inode;
  sys::close(fd);
  return !same;
}

/// Says so once, in the trace if anything there can be written.
void cannot_start(Process& process, long error) {
  process.state = Recording::kImpossible;
  note_trouble(process.trouble_noted, "nothing of this process is recorded: cannot write",
               process.directory, error);
  if (!loaded.bare) process.control = map_control();
  if (process.control == nullptr) process.control = known_control;
  process_in_trouble(process, error);
}

}  // namespace

void process_start(Process& process) {
  load();
  choose_clock();
  ++process_instance;
  const Stamp first = stamp_now();
  if (process.pid == 0) identify(process);  // a child by clone(2)
  const bool silent = loaded.secure || is_over();
  const long error = silent ? 0 : start(process, first);
  if (silent) {
    process.state = Recording::kImpossible;
  } else if (error != 0) {
    cannot_start(process, error);
  } else {
    begin_recording(process, first);
  }
  process.losing.dropped = lost_count(process);
  __atomic_store_n(&process.losing.hooks, &heddle_losing_hooks, __ATOMIC_RELEASE);
}

void find_control() {
  if (loaded.secure || loaded.bare) return;
  (void)map_control();
}

Control* control_if_barred() {
  if (known_control == nullptr || loaded.barred || has_ended()) return nullptr;
  const long trace = open_trace();
  const long fd = trace < 0 ? trace : sys::open_in(trace, "control", O_RDWR);
  if (trace >= 0) sys::close(trace);
  if (fd >= 0) sys::close(fd);
  // Without the file, it is recorded all the same.
  if (fd >= 0 || (trace >= 0 && fd == -ENOENT)) return nullptr;
  note_first(known_control->barred_reason, fd);
  return known_control;
}

void process_stamp_now_and_then(Process& process) {
  constexpr std::uint64_t kSome = 1 << 24;  // ticks: 4 to 17 ms, whatever the clock
  if (ticks() - process.stamped > kSome) process_stamp(process);
}

void process_stamp(Process& process) {
  ProcessHeader& header = *process.header;
  process.stamped = ticks();
  header.latest[header.latest_stamps % 2] = stamp_now();
  __atomic_store_n(&header.latest_stamps, header.latest_stamps + 1, __ATOMIC_RELEASE);
}

void process_lost(Process& process) {
  __atomic_fetch_add(lost_count(process), 1, __ATOMIC_RELAXED);
}

void process_in_trouble(Process& process, long error) {
  if (process.header != nullptr) {
    note_first(process.header->trouble, error);
  } else if (process.control != nullptr) {
    note_first(process.control->trouble, error);
  }
}

void process_uncounted(Process& process, Counted what) {
  if (process.paused) return;
  const bool operation = what == Counted::kOperation;
  std::uint64_t* number = nullptr;
  if (ProcessHeader* const header = process.header; header != nullptr) {
    number = operation ? &header->uncounted_operations : &header->uncounted_allocations;
  } else if (Control* const control = process.control; control != nullptr) {
    number = operation ? &control->uncounted_operations : &control->uncounted_allocations;
  }
  if (number != nullptr) __atomic_fetch_add(number, 1, __ATOMIC_RELAXED);
}

void table_in_trouble(Process& process, long error) {
  if (process.header != nullptr) note_first(process.header->table_trouble, error);
}

}  // namespace heddle::trace
