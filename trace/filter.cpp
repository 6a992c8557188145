#include "filter.hpp"

#include "clock.hpp"
#include "discard_enter.hpp"
#include "load.hpp"
#include "plan.hpp"

namespace heddle::trace {

constinit FilterSettings filter{};

namespace {

/// Whether calls are recorded now: the --start-at function was entered, and the --stop-at function
/// has not returned since. Of the whole process.
constinit bool on = true;

/// Number of times that it went on.
constinit std::uint32_t times_on = 0;

/// A thread's knowledge of the open calls of one stack.
struct Stack {
  Frames open;             ///< those that decide what is recorded inside them
  Frames stopping;         ///< the outermost of a --stop-at function
  Frames since;            ///< the outermost since recording went on
  std::uint32_t times_on;  ///< as last seen here
};

/// In thread-local memory, so that a forked child goes on with it.
struct Following {
  Stack stacks[2];  ///< the thread's own; and elsewhere: alternate signal stacks, fibers
  std::uint32_t times_told;
};
constinit __thread Following following __attribute__((tls_model("initial-exec"))) = {};

/// A frame for each level, and an excluded one.
std::uint32_t most_frames() { return filter.depth + 2; }

std::uint32_t bits_of(const Call& call) {
  return filter.patterns != 0 ? planned_bits(call.function) : 0;
}

bool depth_limited() { return filter.depth != 0; }

bool enter_wanted(Frames& frames, const Call& call, std::uint64_t readable, std::uint32_t bits) {
  while (true) {
    frames.settle(call, readable);
    const std::uint64_t seen = frames.look();
    const std::uint32_t count = Frames::count(seen);
    Frame* const top = count > 0 ? &frames.at[count - 1] : nullptr;
    if (top != nullptr && top->role == Frame::Role::kExcluded) {
      count_inner(*top, call);
      return false;
    }
    if ((bits & kExcluded) != 0) {
      if (frames.push(seen, call, Frame::Role::kExcluded)) return false;
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
    if (frames.push(seen, call, Frame::Role::kLevel)) return true;
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

void switch_to(bool to) {
  if (to) __atomic_fetch_add(&times_on, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&on, to, __ATOMIC_RELEASE);
}

bool is_on() { return __atomic_load_n(&on, __ATOMIC_ACQUIRE); }

/// --start-at, --stop-at. Whether recording is on for this event.
bool enter_on(Stack& stack, const Call& call, std::uint64_t readable, std::uint32_t bits) {
  if (stack.stopping.settle(call, readable)) switch_to(false);
  if ((bits & kStarts) != 0 && !is_on()) switch_to(true);
  if (!is_on()) return false;
  if ((bits & kStops) != 0 || stack.stopping.any()) stack.stopping.enter_outermost(call);
  const std::uint32_t times = __atomic_load_n(&times_on, __ATOMIC_RELAXED);
  if (stack.times_on != times) {
    stack.times_on = times;
    stack.since.clear();
  }
  stack.since.settle(call, readable);
  stack.since.enter_outermost(call);
  return true;
}

bool exit_on(Stack& stack, const Call& call, bool tail) {
  const bool was_on = is_on();
  if (stack.stopping.any() && stack.stopping.exit_outermost(call, tail) != Relation::kInner) {
    switch_to(false);
  }
  const Relation since = stack.since.exit_outermost(call, tail);
  if (!was_on || (filter.patterns & kStarts) == 0) return was_on;
  // The exit of a call that was entered while recording was off is not recorded.
  return stack.times_on == __atomic_load_n(&times_on, __ATOMIC_RELAXED) &&
         since != Relation::kOuter;
}

Stack& stack_of(std::uint64_t stack_pointer) {
  const RunRecord& about = local.self->about;
  const bool elsewhere =
      about.stack_low != 0 && (stack_pointer < about.stack_low || stack_pointer > about.stack_high);
  return following.stacks[elsewhere ? 1 : 0];
}

/// Up to where memory is there to be read above a stack pointer: of the thread's own stack all, of
/// another, which may end anywhere, the rest of the page.
std::uint64_t readable_above(std::uint64_t stack_pointer) {
  constexpr std::uint64_t kPage = 4096;
  const RunRecord& about = local.self->about;
  const bool own = stack_pointer >= about.stack_low && stack_pointer <= about.stack_high;
  return own && about.stack_low != 0 ? about.stack_high : (stack_pointer | (kPage - 1)) + 1;
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
  const bool first = mine.stacks[0].open.at == nullptr;
  // After fork, the frames of the thread that called it.
  Frame* memory = first ? thread.frames : mine.stacks[0].open.at;
  if (memory == nullptr) {
    const std::size_t bytes = 2 * (most_frames() + 2) * sizeof(Frame);
    void* fresh = sys::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    if (sys::failed(fresh)) return;
    memory = static_cast<Frame*>(fresh);
  }
  thread.frames = memory;
  if (!first) return;
  mine.times_told = __atomic_load_n(&times_on, __ATOMIC_RELAXED);
  for (Stack& stack : mine.stacks) {
    stack.open = {memory, most_frames(), 0};
    stack.stopping = {memory + most_frames(), 1, 0};
    stack.since = {memory + most_frames() + 1, 1, 0};
    memory += most_frames() + 2;
  }
}

void end_filter() { following = {}; }

void filter_leave(std::uint64_t stack_pointer) {
  if (following.stacks[0].open.at == nullptr || local.self == nullptr) return;
  Stack& stack = stack_of(stack_pointer);
  stack.open.leave(stack_pointer);
  stack.since.leave(stack_pointer);
  if (stack.stopping.leave(stack_pointer)) switch_to(false);
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
  const Call call{function, call_site, stack_pointer, kind & ~(kTail | kWanted | kLate)};
  if (following.stacks[0].open.at == nullptr) return 1;
  Stack& stack = stack_of(stack_pointer);
  const bool switched = (filter.patterns & (kStarts | kStops)) != 0;
  if ((kind & kExit) == 0) {
    const std::uint32_t bits = bits_of(call);
    const std::uint64_t readable = (kind & kLate) != 0 ? 0 : readable_above(stack_pointer);
    const bool recording = !switched || enter_on(stack, call, readable, bits);
    const bool wanted = enter_wanted(stack.open, call, readable, bits) && recording;
    if (!wanted) {
      if (loaded.coroutines != Coroutines::kOff && local.self != nullptr) {
        discard_capture(*local.self, function);
      }
      return 0;
    }
    return switched && following.times_told != stack.times_on ? 2 : 1;
  }
  const bool tail = (kind & kTail) != 0;
  const bool recording = !switched || exit_on(stack, call, tail);
  if (!exit_wanted(stack.open, call, tail) || !recording) return 0;
  if (filter.min_ticks != 0 && clock_is_tsc &&
      discard_enter(*local.self, call, tail, arch::read_tsc(), filter.min_ticks)) {
    return 0;
  }
  return 1;
}
