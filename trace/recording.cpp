#include "recording.hpp"

#include "note.hpp"
#include "quiet.hpp"

namespace heddle::trace {

namespace {

/// A hook called from inside dlopen (an instrumented malloc, say) may find the module not yet
/// listed, so a thread looks this many times before it leaves the matter to its next chunk.
constexpr std::uint32_t kLooks = 32;

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

void lose(Process& process) {
  local.lost_instance = process_instance;
  process_lost(process);
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

}  // namespace heddle::trace
