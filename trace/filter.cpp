#include "filter.hpp"

#include "clock.hpp"
#include "load.hpp"
#include "plan.hpp"
#include "take_back.hpp"

namespace heddle::trace {

constinit FilterSettings filter{};

namespace {

/// Whether calls are recorded now: the --start-at function was entered, and the --stop-at function
/// has not returned since. Of the whole process.
constinit bool on = true;

/// Number of times that it went on.
constinit std::uint32_t times_on = 0;

/// What a thread knows of its open calls. In thread-local memory, so that a forked child goes on
/// with it.
struct Following {
  Frames stacks[2];  ///< on the thread's own stack; elsewhere: alternate signal stacks, fibers
  Frames stopping;   ///< the outermost open call of a --stop-at function
  Frames since;      ///< the outermost open call since recording went on
  std::uint32_t times_on;  ///< as this thread last saw it
  std::uint32_t times_told;
};
constinit __thread Following following __attribute__((tls_model("initial-exec"))) = {};

std::uint32_t most_frames() { return filter.depth + 2; }

bool needs_names() { return filter.patterns != 0; }

std::uint32_t bits_of(const Call& call) { return needs_names() ? planned_bits(call.function) : 0; }

bool depth_limited() { return filter.depth != 0; }

/// Ends the frames that are no more. The state then.
std::uint64_t settle(Frames& frames, const Call& enter) {
  while (true) {
    const std::uint64_t seen = frames.look();
    std::uint32_t count = Frames::count(seen);
    while (count > 0 && gone_before(frames.at[count - 1], enter)) --count;
    if (count == Frames::count(seen)) return seen;
    (void)frames.change(seen, count);
  }
}

/// False: a signal handler came between.
bool push(Frames& frames, std::uint64_t seen, const Call& enter, Frame::Role role) {
  const std::uint32_t count = Frames::count(seen);
  if (count >= most_frames()) return true;
  frames.at[count] = frame_of(enter, role);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return frames.change(seen, count + 1);
}

bool enter_wanted(Frames& frames, const Call& call, std::uint32_t bits) {
  while (true) {
    const std::uint64_t seen = settle(frames, call);
    const std::uint32_t count = Frames::count(seen);
    Frame* const top = count > 0 ? &frames.at[count - 1] : nullptr;
    if (top != nullptr && top->role == Frame::Role::kExcluded) {
      count_inner(*top, call);
      return false;
    }
    if ((bits & kExcluded) != 0) {
      if (push(frames, seen, call, Frame::Role::kExcluded)) return false;
      continue;
    }
    const bool inside = top != nullptr || (filter.patterns & kIncluded) == 0;
    if (!inside && (bits & kIncluded) == 0) return false;
    if (inside && !depth_limited()) {
      if (top != nullptr) count_inner(*top, call);
      return true;
    }
    if (depth_limited() && count >= filter.depth) {
      count_inner(*top, call);
      return false;
    }
    if (push(frames, seen, call, Frame::Role::kLevel)) return true;
  }
}

bool exit_wanted(Frames& frames, const Call& call, bool tail) {
  while (true) {
    const std::uint64_t seen = frames.look();
    const std::uint32_t count = Frames::count(seen);
    if (count == 0) return !depth_limited() && (filter.patterns & kIncluded) == 0;
    Frame& top = frames.at[count - 1];
    const Frame::Role role = top.role;
    const Relation relation = trace::relation(top, call, tail);
    if (relation == Relation::kInner) return role == Frame::Role::kLevel && !depth_limited();
    // A handler in between has left it as it was, or has ended it by siglongjmp.
    if (!frames.change(seen, count - 1)) continue;
    if (relation == Relation::kOwn) return role == Frame::Role::kLevel;
  }
}

/// Ends the frames below a stack pointer. Whether there were any.
bool leave(Frames& frames, std::uint64_t stack_pointer) {
  while (true) {
    const std::uint64_t seen = frames.look();
    std::uint32_t count = Frames::count(seen);
    while (count > 0 && frames.at[count - 1].stack_pointer < stack_pointer) --count;
    if (count == Frames::count(seen)) return false;
    if (frames.change(seen, count)) return true;
  }
}

void switch_to(bool to) {
  if (to) __atomic_fetch_add(&times_on, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&on, to, __ATOMIC_RELEASE);
}

bool is_on() { return __atomic_load_n(&on, __ATOMIC_ACQUIRE); }

/// Ends an outermost call that had no exit. Whether it has.
bool outermost_gone(Frames& outermost, const Call& enter) {
  const std::uint64_t seen = outermost.look();
  return Frames::count(seen) > 0 && gone_before(outermost.at[0], enter) &&
         outermost.change(seen, 0);
}

void outermost_enters(Frames& outermost, const Call& enter) {
  while (true) {
    const std::uint64_t seen = outermost.look();
    if (Frames::count(seen) > 0) {
      count_inner(outermost.at[0], enter);
      return;
    }
    if (push(outermost, seen, enter, Frame::Role::kLevel)) return;
  }
}

/// Outer, if none is open.
Relation outermost_exits(Frames& outermost, const Call& exit, bool tail) {
  const std::uint64_t seen = outermost.look();
  if (Frames::count(seen) == 0) return Relation::kOuter;
  const Relation found = relation(outermost.at[0], exit, tail);
  if (found != Relation::kInner) (void)outermost.change(seen, 0);
  return found;
}

/// --start-at, --stop-at. Whether recording is on for this event.
bool enter_on(const Call& call, std::uint32_t bits) {
  Following& mine = following;
  if (outermost_gone(mine.stopping, call)) switch_to(false);
  if ((bits & kStarts) != 0 && !is_on()) switch_to(true);
  if (!is_on()) return false;
  if ((bits & kStops) != 0 || Frames::count(mine.stopping.look()) > 0) {
    outermost_enters(mine.stopping, call);
  }
  const std::uint32_t times = __atomic_load_n(&times_on, __ATOMIC_RELAXED);
  if (mine.times_on != times) {
    mine.times_on = times;
    (void)mine.since.change(mine.since.look(), 0);
  }
  (void)outermost_gone(mine.since, call);
  outermost_enters(mine.since, call);
  return true;
}

bool exit_on(const Call& call, bool tail) {
  Following& mine = following;
  const bool was_on = is_on();
  if (Frames::count(mine.stopping.look()) > 0 &&
      outermost_exits(mine.stopping, call, tail) != Relation::kInner) {
    switch_to(false);
  }
  const Relation since = outermost_exits(mine.since, call, tail);
  if (!was_on || (filter.patterns & kStarts) == 0) return was_on;
  // Of a call that was entered while recording was off there is nothing to end.
  return mine.times_on == __atomic_load_n(&times_on, __ATOMIC_RELAXED) && since != Relation::kOuter;
}

Frames& frames_for(std::uint64_t stack_pointer) {
  const RunRecord& about = local.self->about;
  const bool elsewhere =
      about.stack_low != 0 && (stack_pointer < about.stack_low || stack_pointer > about.stack_high);
  return following.stacks[elsewhere ? 1 : 0];
}

/// Ticks per second, for a processor that does not state them.
std::uint64_t measured_rate() {
  constexpr std::uint64_t kLong = 2'000'000;  // ns
  const Stamp first = stamp_now();
  Stamp last = first;
  while (last.monotonic_raw_ns - first.monotonic_raw_ns < kLong) last = stamp_now();
  const std::uint64_t ns = last.monotonic_raw_ns - first.monotonic_raw_ns;
  return (last.ticks - first.ticks) * 1'000'000'000 / ns;
}

std::uint64_t to_ticks(std::uint64_t ns) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t stated = ticks_per_second();
  const std::uint64_t rate = stated != 0 ? stated : measured_rate();
  const std::uint64_t ticks = ns / kSecond * rate + ns % kSecond * rate / kSecond;
  return ticks != 0 ? ticks : 1;
}

}  // namespace

void prepare_filter() {
  if (filter.active) return;  // by a parent
  filter.patterns = loaded.patterns;
  filter.depth = loaded.depth < kMostDepth ? loaded.depth : kMostDepth;
  filter.min_ticks = loaded.min_ns != 0 ? to_ticks(loaded.min_ns) : 0;
  filter.active = filter.patterns != 0 || filter.depth != 0 || filter.min_ticks != 0;
  on = (filter.patterns & kStarts) == 0;
}

void begin_filter(Thread& thread) {
  Following& mine = following;
  const bool first = mine.stacks[0].at == nullptr;
  // After fork, the frames of the thread that called it.
  Frame* memory = first ? thread.frames : mine.stacks[0].at;
  if (memory == nullptr) {
    const std::size_t bytes = (2 * most_frames() + 2) * sizeof(Frame);
    void* fresh = sys::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    if (sys::failed(fresh)) return;
    memory = static_cast<Frame*>(fresh);
  }
  thread.frames = memory;
  if (!first) return;
  mine.times_told = __atomic_load_n(&times_on, __ATOMIC_RELAXED);
  for (Frames& frames : mine.stacks) {
    frames.at = memory;
    memory += most_frames();
  }
  mine.stopping.at = memory;
  mine.since.at = memory + 1;
}

void end_filter() { following = {}; }

void filter_leave(std::uint64_t stack_pointer) {
  Following& mine = following;
  if (mine.stacks[0].at == nullptr || local.self == nullptr) return;
  leave(frames_for(stack_pointer), stack_pointer);
  leave(mine.since, stack_pointer);
  if (leave(mine.stopping, stack_pointer)) switch_to(false);
}

bool take_filter_gap() {
  const std::uint32_t times = __atomic_load_n(&times_on, __ATOMIC_RELAXED);
  const bool due = following.times_told != times;
  following.times_told = times;
  return due;
}

}  // namespace heddle::trace

std::uint32_t heddle_wanted(std::uint64_t function, std::uint64_t call_site,
                            std::uint64_t stack_pointer, std::uint64_t kind) {
  using namespace heddle::trace;
  const Call call{function, call_site, stack_pointer, kind & ~std::uint64_t{kTail | kWanted}};
  if (following.stacks[0].at == nullptr) return 1;
  Frames& frames = frames_for(stack_pointer);
  const bool switched = (filter.patterns & (kStarts | kStops)) != 0;
  if ((kind & kExit) == 0) {
    const std::uint32_t bits = bits_of(call);
    const bool recording = !switched || enter_on(call, bits);
    const bool wanted = enter_wanted(frames, call, bits) && recording;
    if (!wanted) return 0;
    return switched && following.times_told != following.times_on ? 2 : 1;
  }
  const bool tail = (kind & kTail) != 0;
  const bool recording = !switched || exit_on(call, tail);
  if (!exit_wanted(frames, call, tail) || !recording) return 0;
  if (filter.min_ticks != 0 && clock_is_tsc &&
      take_back(*local.self, call, tail, arch::read_tsc(), filter.min_ticks)) {
    return 0;
  }
  return 1;
}
