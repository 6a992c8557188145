#include "thread.hpp"

#include <pthread.h>
#include <sys/prctl.h>

#include "note.hpp"
#include "quiet.hpp"
#include "stack_bounds.hpp"
#include "text.hpp"

namespace heddle::trace {

constinit Segment unattached{nullptr, 0, 0, nullptr};
constinit __thread Local local
    __attribute__((tls_model("initial-exec"))) = {&unattached, nullptr, false, 0, 0, 0};

namespace {

/// A hook called from inside dlopen (an instrumented malloc, say) may find the module not yet
/// listed, so a thread looks this many times before it leaves the matter to its next chunk.
constexpr std::uint32_t kLooks = 32;

constinit pthread_key_t end_key = 0;
constinit bool have_end_key = false;

/// Within the slow path, with signals blocked: hooks that the recorder itself causes (through
/// functions that the program put in libc's place) are not the program's calls; they find no
/// segment and return.
class [[nodiscard("ends at once")]] Busy {
 public:
  Busy() {
    local.busy = true;
    local.current = &unattached;
  }
  ~Busy() { local.busy = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
};

bool attached() { return local.self != nullptr && local.self->file.header != nullptr; }

void name_self(Thread& thread) {
  char name[16] = {};
  arch::syscall(SYS_prctl, PR_GET_NAME, name);
  Text(thread.file.header->name, sizeof thread.file.header->name) << name;
}

void name_other(Thread& thread) {
  char path[64];
  Text text = Text(path, sizeof path) << "/proc/self/task/";
  text.decimal(thread.tid) << "/comm";
  char name[32] = {};
  std::size_t size = sys::read_file(path, name, sizeof name - 1);
  if (size == 0) return;  // it has just ended
  if (name[size - 1] == '\n') --size;
  name[size] = '\0';
  Text(thread.file.header->name, sizeof thread.file.header->name) << name;
}

/// Sends the thread's hooks to its newest segment, or to the slow path while there is a module to
/// look for. Process lock held.
void publish(Thread& thread) {
  Segment& newest = thread.file.segments[thread.file.used - 1];
  __atomic_store_n(&newest.count, thread.look_again > 0 ? nullptr : &thread.file.header->reserved,
                   __ATOMIC_RELAXED);
}

void use_newest(Thread& thread) {
  local.current =
      thread.file.full ? &thread.file.dropping : &thread.file.segments[thread.file.used - 1];
}

/// No more room: from here on the thread's hooks only count.
void give_up(Process& process, Thread& thread, long error) {
  note_trouble(process.trouble_noted, "recording of a thread stopped: cannot extend",
               thread.file.path, error);
  const Locked locked(process.lock);
  thread.file.full = true;
}

void link(Process& process, Thread& thread) {
  thread.previous = nullptr;
  thread.next = process.threads;
  if (thread.next != nullptr) thread.next->previous = &thread;
  process.threads = &thread;
}

void unlink(Process& process, Thread& thread) {
  if (thread.next != nullptr) thread.next->previous = thread.previous;
  (thread.previous != nullptr ? thread.previous->next : process.threads) = thread.next;
}

bool set_path(const Process& process, Thread& thread, std::uint32_t number) {
  Text text = Text(thread.file.path, sizeof thread.file.path) << process.directory << "/thread-";
  text.decimal(number);
  return text.fits();
}

/// Gives the calling thread its file. Process lock held, recording running.
long attach_new(Process& process, Thread& thread) {
  const std::uint32_t number = process.header->thread_files + 1;
  if (!set_path(process, thread, number)) return -ENAMETOOLONG;
  const auto tid = static_cast<std::uint32_t>(sys::tid());
  if (const long error = thread.file.create(tid); error != 0) return error;
  thread.number = number;
  thread.tid = tid;
  process.header->thread_files = number;
  ThreadHeader& header = *thread.file.header;
  const StackBounds stack =
      stack_bounds(tid == process.header->pid, process.modules.line, sizeof process.modules.line);
  header.stack_low = stack.low;
  header.stack_high = stack.high;
  name_self(thread);
  header.first_ticks = ticks();
  __atomic_store_n(&header.magic, kThreadMagic, __ATOMIC_RELEASE);
  return 0;
}

/// After a thread's end was seen: back to the file it had.
long attach_again(Process& process, Thread& thread) {
  if (!set_path(process, thread, local.ended_number)) return -ENAMETOOLONG;
  const long error = thread.file.reopen();
  if (thread.file.header == nullptr) return error;
  if (error != 0) {
    note_trouble(process.trouble_noted, "recording of a thread stopped: cannot extend",
                 thread.file.path, error);
  }
  thread.number = local.ended_number;
  thread.tid = thread.file.header->tid;
  thread.file.header->flags &= ~kThreadEndSeen;
  return 0;
}

void lose(Process& process) {
  local.lost_instance = process_instance;
  process_lost(process);
}

/// Starts whatever of process and thread has not begun. False: this thread's events can only be
/// counted.
bool attach(Process& process) {
  const Locked locked(process.lock);
  if (process.state == Recording::kNotStarted) process_start(process);
  if (process.state != Recording::kRunning) return false;
  Thread* thread = local.self;  // left over from before a fork, wiped
  if (thread == nullptr) thread = static_cast<Thread*>(sys::map_wiped_on_fork(sizeof(Thread)));
  long error = -ENOMEM;
  if (thread != nullptr) {
    const bool again = local.ended_instance == process_instance && local.ended_number != 0;
    error = again ? attach_again(process, *thread) : attach_new(process, *thread);
  }
  if (error != 0) {
    if (thread != nullptr) sys::munmap(thread, sizeof(Thread));
    local.self = nullptr;
    note_trouble(process.trouble_noted, "a thread is not recorded: cannot make a file in",
                 process.directory, error);
    return false;
  }
  thread->pthread = arch::thread_pointer();
  local.self = thread;
  link(process, *thread);
  process_stamp(process);
  if (have_end_key) pthread_setspecific(end_key, thread);
  return true;
}

/// The thread's end, as far as glibc lets us see it: other keys' destructors may come later, and
/// their calls attach again, which sets the key again and so brings us here again.
void on_thread_end(void*) {
  const Quiet quiet;
  const Busy busy;
  Process* const current = process();
  if (current == nullptr || !attached()) {
    return;
  }
  Thread& thread = *local.self;
  {
    const Locked locked(current->lock);
    unlink(*current, thread);
    process_stamp(*current);
  }
  name_self(thread);
  thread.file.header->flags |= kThreadEndSeen;
  local.ended_instance = process_instance;
  local.ended_number = thread.number;
  local.self = nullptr;
  thread.file.close();
  sys::munmap(&thread, sizeof(Thread));
}

/// Stores an event of an attached thread, growing its file if need be.
void record_attached(Process& process, Thread& thread, const Record& event, std::uint64_t index) {
  if (thread.file.store(index, event)) return;
  if (!thread.file.full) {
    name_self(thread);
    const long error = thread.file.grow();
    if (error != 0) {
      give_up(process, thread, error);
    } else {
      {
        const Locked locked(process.lock);
        publish(thread);
        process_stamp(process);
      }
      scan_modules(process.modules);
      if (thread.file.store(index, event)) return;
    }
  }
  // Each event that finds no room counts itself, also those that an interrupted hook had reserved
  // earlier.
  arch::reserve(&thread.file.header->dropped);
}

void look_for_module(Process& process, Thread& thread) {
  const bool found = modules_changed(process.modules);
  if (found) scan_modules(process.modules);
  const Locked locked(process.lock);
  if (thread.look_again > 0) --thread.look_again;
  if (found) thread.look_again = 0;
  if (!thread.file.full) publish(thread);
}

}  // namespace

void record_slowly(std::uint64_t function, std::uint64_t call_site, std::uint64_t stack_pointer,
                   std::uint64_t exit_bit) {
  if (local.busy) return;
  Process* const current = process();
  if (current == nullptr) return;
  // Not for good: a forked child starts from nothing, and may have what its parent lacked.
  if (local.lost_instance == process_instance && process_instance != 0 &&
      current->state != Recording::kNotStarted) {
    process_lost(*current);
    return;
  }
  const Quiet quiet;
  const Busy busy;
  if (!attached()) {
    if (!attach(*current)) {
      lose(*current);
      return;
    }
    scan_modules(current->modules);
  } else if (local.self->look_again > 0) {
    look_for_module(*current, *local.self);
  }
  Thread& thread = *local.self;
  const Record event{ticks() | exit_bit, function, call_site, stack_pointer};
  if (thread.file.full) {
    arch::reserve(&thread.file.header->dropped);
  } else {
    record_attached(*current, thread, event, arch::reserve(&thread.file.header->reserved));
  }
  use_newest(thread);
}

void record_beyond(std::uint64_t when, std::uint64_t function, std::uint64_t call_site,
                   std::uint64_t stack_pointer, std::uint64_t index, const Segment* segment) {
  if (local.busy) return;
  // A handler forked in the middle of the hook: the event is the parent's.
  if (!attached()) return;
  // Already counted, by the reservation itself.
  if (segment == &local.self->file.dropping) return;
  const Quiet quiet;
  const Busy busy;
  record_attached(*process(), *local.self, {when, function, call_site, stack_pointer}, index);
  use_newest(*local.self);
}

void expect_module() {
  Process* const current = process();
  if (current == nullptr || current->state != Recording::kRunning) return;
  const Quiet quiet;
  const Locked locked(current->lock);
  for (Thread* thread = current->threads; thread != nullptr; thread = thread->next) {
    thread->look_again = kLooks;
    if (!thread->file.full) publish(*thread);
  }
}

void refresh_name(std::uint64_t pthread) {
  Process* const current = process();
  if (current == nullptr || current->state != Recording::kRunning) return;
  const Quiet quiet;
  const Locked locked(current->lock);
  for (Thread* thread = current->threads; thread != nullptr; thread = thread->next) {
    if (thread->pthread == pthread) name_other(*thread);
  }
}

void refresh_names(Process& process) {
  for (Thread* thread = process.threads; thread != nullptr; thread = thread->next) {
    name_other(*thread);
  }
}

void prepare_thread_ends() {
  if (!have_end_key) have_end_key = pthread_key_create(&end_key, on_thread_end) == 0;
}

}  // namespace heddle::trace
