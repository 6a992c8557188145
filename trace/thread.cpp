#include "thread.hpp"

#include <pthread.h>

#include "filter.hpp"
#include "load.hpp"
#include "note.hpp"
#include "quiet.hpp"
#include "sequence.hpp"
#include "shelter.hpp"
#include "stack_bounds.hpp"

namespace heddle::trace {

constinit Window unattached{};
constinit __thread Local local
    __attribute__((tls_model("initial-exec"))) = {&unattached, nullptr, false, 0, 0, 0, 0, 0, 0, 0};

namespace {

constinit pthread_key_t end_key = 0;
constinit bool have_end_key = false;

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

/// One that a dead thread has left, or a new one. Process lock held.
Thread* obtain(Process& process, long& error) {
  Thread* thread = process.idle;
  if (thread != nullptr) {
    process.idle = thread->next;
    return thread;
  }
  thread = static_cast<Thread*>(sys::map_wiped_on_fork(sizeof(Thread)));
  error = thread == nullptr ? -ENOMEM : thread->buffer.create(process);
  if (error == 0 || thread == nullptr) return thread;
  sys::munmap(thread, sizeof(Thread));
  return nullptr;
}

/// The kernel's number of the calling thread; of the one that called vfork, if this is the child.
std::uint32_t own_tid(const Process& process) {
  clockid_t clock;
  if (process.pid == static_cast<std::uint32_t>(sys::pid()) ||
      pthread_getcpuclockid(pthread_self(), &clock) != 0) {
    return static_cast<std::uint32_t>(sys::tid());
  }
  return ~static_cast<std::uint32_t>(clock >> 3);  // a number of the kernel's interface
}

/// Fills in the part of a new thread's run records that describes the thread.
void describe(Process& process, Thread& thread) {
  RunRecord& about = thread.about;
  about.flags = local.made_instance == process_instance ? local.making << kMadeByShift : 0;
  thread.skipped = 0;
  thread.named = false;
  about.tid = own_tid(process);
  const std::uint64_t self = arch::thread_pointer();
  // A thread with a dead one's control block has that one's stack, too: glibc keeps both together.
  // But stacks that the program gives may overlap.
  if (thread.stack_owner != self || local.given_stack != 0) {
    const Stack which = about.tid != process.header->pid ? Stack::kOther
                        : process.fork.making != 0       ? Stack::kForked
                                                         : Stack::kMain;
    const StackBounds stack =
        stack_bounds(which, local.given_stack, process.path, sizeof process.path);
    about.stack_low = stack.low;
    about.stack_high = stack.high;
    thread.stack_owner = local.given_stack == 0 ? self : 0;
  }
  thread.pthread = self;
  about.first_ticks = ticks();
  const bool again = local.ended_instance == process_instance && local.ended_number != 0;
  about.thread = again ? local.ended_number : ++process.header->threads;
  about.number = again ? local.ended_runs : 0;
}

/// The thread's end, as far as glibc lets us see it: other keys' destructors may come later, and
/// their calls attach again, which sets the key again and so brings us here again.
void on_thread_end(void*) {
  Process* const current = process();
  if (current == nullptr) return;
  const Quiet quiet;
  const AtWork at_work(current->header);
  const Busy busy;
  if (!attached()) return;
  Thread& thread = *local.self;
  name_self(thread);
  thread.about.flags |= kThreadEndSeen;
  if (thread.run != nullptr) thread.run->flags = thread.about.flags;
  local.ended_instance = process_instance;
  local.ended_number = thread.about.thread;
  local.ended_runs = thread.about.number;
  local.self = nullptr;
  end_filter();
  const Locked locked(current->lock);
  unlink(*current, thread);
  process_stamp_now_and_then(*current);
  // Where nothing can be recorded any more, the count of what was dropped must stay this thread's.
  if (thread.full) return;
  end_run(thread);
  thread.next = current->idle;
  current->idle = &thread;
}

}  // namespace

bool attached() { return local.self != nullptr && local.self->buffer.header != nullptr; }

void lose_thread(Process& process) {
  local.lost_instance = process_instance;
  local.current = &process.losing;
}

bool is_lost(const Process& process) {
  return local.lost_instance == process_instance && process_instance != 0 &&
         process.state != Recording::kNotStarted;
}

void publish(const Process& process, Thread& thread) {
  Window& window = thread.window;
  const bool off = thread.full || process.paused;
  const bool quick = clock_is_tsc && !process.modules.overlap && !off;
  // Not the last of what a slow path must do first?
  const bool slow = !off && (thread.look_again > 0 || thread.skipped > 0);
  window.own_sequence = quick ? thread.sequence : nullptr;
  // The filter is asked, and frames are looked for, whichever way the events then go.
  const bool hooked =
      !loaded.barred && (window.own_sequence != nullptr || filter.active || process.captures);
  window.hooks = hooked ? process.hooks : nullptr;
  const bool plain_enters = process.hooks == nullptr || process.hooks == &heddle_brief_hooks;
  window.enter_sequence = plain_enters ? window.own_sequence : nullptr;
  const bool plain_exits = process.hooks == nullptr || process.hooks == &heddle_capturing_hooks;
  window.exit_sequence = plain_exits ? window.own_sequence : nullptr;
  std::uint64_t* const dropped = thread.full      ? &thread.buffer.header->dropped
                                 : process.paused ? &thread.skipped
                                                  : nullptr;
  __atomic_store_n(&window.dropped, dropped, __ATOMIC_RELAXED);
  __atomic_store_n(&window.position, slow ? nullptr : &thread.buffer.header->position,
                   __ATOMIC_RELAXED);
}

void publish_all(Process& process) {
  for (Thread* thread = process.threads; thread != nullptr; thread = thread->next) {
    publish(process, *thread);
  }
}

[[HEDDLE_ALIGNS_STACK]] bool attach(Process& process, std::uint64_t stack_pointer, bool sheltered) {
  const Locked locked(process.lock);
  const Shelter shelter(process.vectors, sheltered);  // the thread has no memory of its own yet
  if (process.state == Recording::kNotStarted) process_start(process);
  if (process.state != Recording::kRunning) return false;
  local.self = nullptr;  // one left over from before a fork is wiped
  long error = 0;
  Thread* const thread = obtain(process, error);
  if (thread != nullptr) {
    describe(process, *thread);
    thread->sequence = sequence_of_this_thread();
    thread->look_again = 0;
    if (filter.active) begin_filter(*thread);
    error = open_run(process, *thread, stack_pointer);
    thread->idle_until = thread->buffer.header->position;
    if (error != 0) {
      thread->next = process.idle;
      process.idle = thread;
    }
  }
  if (error != 0) {
    process_in_trouble(process, error);
    note_trouble(process.trouble_noted, "a thread is not recorded: cannot make a file in",
                 process.directory, error);
    return false;
  }
  local.self = thread;
  name_self(*thread);
  publish(process, *thread);
  link(process, *thread);
  process_stamp_now_and_then(process);
  if (have_end_key) pthread_setspecific(end_key, thread);
  return true;
}

void prepare_thread_ends() {
  if (!have_end_key) have_end_key = pthread_key_create(&end_key, on_thread_end) == 0;
}

}  // namespace heddle::trace
