#include "thread.hpp"

#include <pthread.h>

#include "note.hpp"
#include "quiet.hpp"
#include "stack_bounds.hpp"
#include "text.hpp"

namespace heddle::trace {

constinit Segment unattached{nullptr, 0, 0, nullptr};
constinit __thread Local local
    __attribute__((tls_model("initial-exec"))) = {&unattached, nullptr, false, 0, 0, 0};

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

}  // namespace

bool attached() { return local.self != nullptr && local.self->file.header != nullptr; }

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

void prepare_thread_ends() {
  if (!have_end_key) have_end_key = pthread_key_create(&end_key, on_thread_end) == 0;
}

}  // namespace heddle::trace
