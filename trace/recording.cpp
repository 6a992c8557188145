#include "recording.hpp"

#include "coroutines.hpp"
#include "discard_enter.hpp"
#include "early.hpp"
#include "filter.hpp"
#include "load.hpp"
#include "note.hpp"
#include "plan.hpp"
#include "quiet.hpp"
#include "shelter.hpp"

namespace heddle::trace {

namespace {

/// A hook called from inside dlopen (an instrumented malloc, say) may find the module not yet
/// listed, so a thread looks this many times before it leaves the matter to its next block.
constexpr std::uint32_t kLooks = 32;

/// Before the thread tells when a module has come or gone: what it recorded without a time
/// (`--clock sparse`) was before that.
void record_time(Process& process, Thread& thread) {
  if (process.header->sparse == 0 || process.paused) return;
  // Where there is no room, the next event says so.
  (void)append_record(process, thread, first_word(RecordType::kTime, 3, 0), 0);
}

}  // namespace

void meet_new_module(Process& process, Thread& thread) {
  const bool found = modules_changed(process.modules);
  if (found) record_time(process, thread);
  if (found && !update_modules(process)) return;
  const Locked locked(process.lock);
  if (thread.look_again > 0) --thread.look_again;
  if (found) thread.look_again = 0;
  publish(process, thread);
}

namespace {

/// No more room: from here on the thread's hooks only count.
void give_up(Process& process, Thread& thread, long error) {
  note_trouble(process.trouble_noted, "recording of a thread stopped: cannot write its events in",
               process.directory, error);
  process_in_trouble(process, error);
  const Locked locked(process.lock);
  thread.full = true;
  publish(process, thread);
}

/// Tells what was skipped while recording was paused.
long resume(Process& process, Thread& thread) {
  const std::uint64_t skipped = thread.skipped;
  thread.skipped = 0;
  {
    const Locked locked(process.lock);
    publish(process, thread);
  }
  return append_gap(process, thread, GapReason::kPaused, skipped);
}

/// Tells that recording was off (--start-at), if it was ever on.
long come_back(Process& process, Thread& thread) {
  if (thread.about.number == 1 && thread.buffer.header->position == thread.idle_until) return 0;
  constexpr std::uint64_t kNotCounted = ~std::uint64_t{0};
  return append_gap(process, thread, GapReason::kPaused, kNotCounted);
}

void record(Process& process, Thread& thread, const Call& call) {
  if (process.paused) {
    ++thread.skipped;
    return;
  }
  const std::uint32_t run = thread.about.number;
  long error = thread.skipped > 0 ? resume(process, thread) : 0;
  if (error == 0 && filter.active && take_filter_gap()) error = come_back(process, thread);
  if (error == 0) error = append_call(process, thread, call);
  if (error != 0) {
    give_up(process, thread, error);
    arch::increment(&thread.buffer.header->dropped);
    return;
  }
  if (run == thread.about.number) return;
  // Once a block: what changes now and then.
  name_self(thread);
  (void)update_modules(process);
  const Locked locked(process.lock);
  process_stamp_now_and_then(process);
}

/// Bytes of stack that the slow path takes: 784 were measured.
constexpr std::size_t kStackTaken = 896;

/// For an event of which the hook has not asked; `more` may have kTail and kLate.
bool filter_wants(const Call& call, std::uint64_t more) {
  if (heddle_wanted(call.function, call.call_site, call.stack_pointer, call.kind | more) == 0) {
    return false;
  }
  const bool tail = (more & kTail) != 0;
  // The hooks' clock is the TSC.
  return clock_is_tsc || (call.kind & kExit) == 0 || filter.min_ticks == 0 ||
         !discard_enter(*local.self, call, tail, ticks(), filter.min_ticks);
}

}  // namespace

bool update_modules(Process& process, bool wait) {
  const bool overlapped = process.modules.overlap;
  if (!scan_modules(process.modules, wait)) return false;
  const bool asks = asks_for_coroutines(process);
  if (filter.patterns != 0 || asks || loaded.values) ask_for_plan(process);
  if (asks) meet_planned_coroutines(process);
  if (overlapped == process.modules.overlap) return true;
  const Locked locked(process.lock);
  publish_all(process);
  return true;
}

void meet_modules(Process& process, Thread& thread) {
  if (update_modules(process)) return;
  const Locked locked(process.lock);
  thread.look_again = 1;
  publish(process, thread);
}

void expect_module() {
  Process* const current = process();
  if (current == nullptr || current->state != Recording::kRunning) return;
  const Quiet quiet;
  const Locked locked(current->lock);
  for (Thread* thread = current->threads; thread != nullptr; thread = thread->next) {
    thread->look_again = kLooks;
    publish(*current, *thread);
  }
}

namespace {

/// Records what was kept before anything could be recorded, as events of now: the main thread is
/// the one that meets this first. What there was no room to keep is counted.
void record_kept(Process& process, Thread& thread) {
  const std::uint64_t count = early.count;
  early.count = 0;
  for (std::uint64_t i = 0; i < count && i < EarlyCalls::kMost; ++i) {
    Call call = early.calls[i];
    const std::uint64_t tail = call.kind & kTail;
    call.kind &= ~kTail;
    if (!filter.active || filter_wants(call, tail | kLate)) record(process, thread, call);
  }
  for (std::uint64_t i = EarlyCalls::kMost; i < count; ++i) {
    arch::increment(&thread.buffer.header->dropped);
  }
}

/// Gives the thread its buffer, with signals blocked and Busy.
bool begin(Process& process, std::uint64_t stack_pointer, bool sheltered) {
  if (attach(process, stack_pointer, sheltered)) return true;
  process_lost(process);
  lose_thread(process);
  for (; early.count > 0; --early.count) process_lost(process);
  return false;
}

}  // namespace

void record_early_calls() {
  Process* const current = process();
  if (early.count == 0 || current == nullptr || attached()) return;
  const Quiet quiet;
  const Busy busy;
  if (!begin(*current, early.calls[0].stack_pointer, false)) return;
  Thread& self = *local.self;
  meet_modules(*current, self);
  record_kept(*current, self);
  local.current = &self.window;
}

}  // namespace heddle::trace

void heddle_record_slowly(std::uint64_t function, std::uint64_t call_site,
                          std::uint64_t stack_pointer, std::uint64_t kind) {
  using namespace heddle::trace;
  if (local.busy) return;
  Process* const current = process_or_barred();
  if (current == nullptr) return;
  if (loaded.barred) {
    process_lost(*current);
    return;
  }
  if (is_lost(*current)) {  // its hooks did not know it
    process_lost(*current);
    lose_thread(*current);
    return;
  }
  // The hook of the first way has jumped here.
  const bool tail = (kind & kEntryWay) == 0 &&
                    reinterpret_cast<std::uint64_t>(__builtin_return_address(0)) == call_site;
  touch_stack<kStackTaken>();
  const Quiet quiet;
  const AtWork at_work(current->header);
  const Busy busy;
  const bool entry_way = (kind & kEntryWay) != 0;
  const bool first = !attached();
  if (first && !begin(*current, stack_pointer, entry_way)) return;
  Thread& self = *local.self;
  const Shelter shelter(self.vectors, entry_way);
  if (first) {
    meet_modules(*current, self);
    if (early.count > 0) record_kept(*current, self);
  } else if (self.look_again > 0) {
    meet_new_module(*current, self);
  }
  const Call call{function, call_site, stack_pointer, kind & ~kWanted};
  if (!filter.active || (kind & kWanted) != 0 || filter_wants(call, tail ? kTail : 0)) {
    record(*current, self, call);
  }
  local.current = &self.window;
}
