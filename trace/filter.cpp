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

/// The stack pointers of a stack; 0 and 0 for a stack that there is not. A tail-called exit hook
/// may have the upper bound, an exhausted stack the lower one.
struct Bounds {
  std::uint64_t low, high;

  [[nodiscard]] bool have(std::uint64_t pointer) const { return low < pointer && pointer <= high; }
  [[nodiscard]] bool overlap(const Bounds& other) const {
    return low < other.high && other.low < high;
  }
};

/// Of no stack pointer.
constexpr Stretch kNoStretch{};

/// The thread's own stack has stretches only where an alternate signal stack lies within it: one
/// below that and one above.
enum StretchName { kAlternate, kAlternateOfHandler, kOwnBelow, kOwnAbove, kStretches };

/// In thread-local memory, so that a forked child goes on with it.
struct Following {
  FollowedStack stacks[2];  ///< the thread's own, with the alternate signal stack; and fibers'
  Bounds own;
  Stretch stretches[kStretches];  ///< of the first of the stacks; no two overlap
  std::uint32_t times_told;
};
constinit __thread Following following __attribute__((tls_model("initial-exec"))) = {};

/// The thread's alternate signal stack, also of a thread that is not recorded yet; and the one that
/// a handler on the first has set for handlers that interrupt it (SS_AUTODISARM), which is over
/// when that returns.
constinit __thread Bounds alternates[2] __attribute__((tls_model("initial-exec"))) = {};

/// The frame in front of those of a thread without memory for any: everything is recorded.
constinit Frame asking_frame = {};
constinit FollowedStack asking_stacks[2] = {};

/// A frame for each level, and an excluded one.
std::uint32_t most_frames() { return filter.depth + 2; }

/// Those, the one in front of them, and one each for `stopping` and `since`.
std::uint32_t all_frames() { return most_frames() + 3; }

bool depth_limited() { return filter.depth != 0; }

/// --start-at, --stop-at
bool switched() { return (filter.patterns & (kStarts | kStops)) != 0; }

/// The answers for enters by one way in, where a function matches a pattern of these.
std::uint64_t enters(Answer none, Answer included, Answer excluded) {
  const auto byte = [](Answer answer) { return static_cast<std::uint64_t>(answer); };
  return byte(none) | byte(included) << 8 * kIncluded | byte(excluded) << 8 * kExcluded |
         byte(excluded) << 8 * (kIncluded | kExcluded);
}

/// Those by both ways in. On a stack without `bounds`, as a fiber's, the second way asks where the
/// enter has a frame: the stack may be gone before the call has ended, and with it the return
/// address, which the hooks would read. heddle_wanted knows where they must not (Frames::push).
std::uint64_t by_both_ways(std::uint64_t one, bool bounds) {
  static_assert(static_cast<int>(Answer::kTakeAsLevel) == 2 &&
                static_cast<int>(Answer::kLeaveAsFrame) == 3);
  const std::uint64_t framed =
      (one >> 1 & enters_of_one_way(Answer::kTake)) * static_cast<std::uint64_t>(Answer::kAsk);
  return one | (bounds ? one : one | framed) << 32;
}

/// The answers where no call is open that decides: as enter_wanted and exit_wanted have it.
Answers answers_outside(bool bounds) {
  if (switched()) return all_answers(Answer::kAsk);
  const bool somewhere = (filter.patterns & kIncluded) != 0;
  const Answer inside = depth_limited() ? Answer::kTakeAsLevel : Answer::kTake;
  const std::uint64_t found =
      enters(somewhere ? Answer::kLeave : inside, somewhere ? Answer::kTakeAsLevel : inside,
             Answer::kLeaveAsFrame);
  const bool exits = !depth_limited() && !somewhere;
  return {by_both_ways(found, bounds), exits ? Answer::kTake : Answer::kLeave, Answer::kAsk};
}

/// Where a stack ends of which the bounds are not known.
constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

void prepare_answers(FollowedStack& stack) {
  const bool bounds = stack.high != kNowhere;
  const auto level = [bounds](Answer inside) {
    return by_both_ways(enters(inside, inside, Answer::kLeaveAsFrame), bounds);
  };
  const Answers outside = answers_outside(bounds);
  Frame& none = stack.open.at[-1];
  none.enter = outside.enter;
  none.kind = {0, Frame::Role::kLevel, outside.inner_exit, outside.own_exit};
  stack.deepest = stack.open.at + (depth_limited() ? filter.depth - 1 : 0);
  for (std::uint8_t entry_way = 0; entry_way < 2; ++entry_way) {
    const std::uint64_t mask = entry_way != 0 ? stack.entry_mask : 0;
    stack.higher_enters[entry_way] = level(Answer::kTakeAsLevel) | mask;
    // Below the deepest level it makes no difference what is excluded, so that the hooks need not
    // look.
    stack.deepest_enters[entry_way] = (depth_limited() ? 0 : level(Answer::kTake)) | mask;
    stack.level_kinds[entry_way] = {
        entry_way, Frame::Role::kLevel, depth_limited() ? Answer::kLeave : Answer::kTake,
        // A call that --min-time leaves out ends twice: its record and its frame.
        filter.min_ticks != 0 ? Answer::kAsk : Answer::kTake};
  }
}

/// The answers of the frame that will be at `frame`.
Answers answers_of(const FollowedStack& stack, const Call& call, Frame::Role role,
                   const Frame* frame) {
  if (switched()) return all_answers(Answer::kAsk);
  const std::uint32_t way = is_entry_way(call) ? 1 : 0;
  Answers answers = all_answers(Answer::kLeave);
  if (role == Frame::Role::kLevel) {
    const Frame::Kind& kind = stack.level_kinds[way];
    answers = {frame < stack.deepest ? stack.higher_enters[way] : stack.deepest_enters[way],
               kind.inner_exit, kind.own_exit};
  } else if (way != 0) {
    answers.enter |= stack.entry_mask;
  }
  // The hooks take it that the return addresses of calls inside the frame can be read.
  const bool readable = call.stack_pointer + sizeof(std::uint64_t) <= stack.high;
  if (!readable) answers.enter |= all_answers(Answer::kAsk).enter;
  return answers;
}

bool push(FollowedStack& stack, std::uint64_t seen, const FollowedCall& call, Frame::Role role) {
  const Frame* const frame = stack.open.at + Frames::count(seen);
  return stack.open.push(seen, call, role, answers_of(stack, call, role, frame));
}

bool enter_wanted(FollowedStack& stack, const FollowedCall& call, std::uint64_t readable,
                  std::uint32_t bits) {
  Frames& frames = stack.open;
  while (true) {
    frames.settle(call, readable);
    const std::uint64_t seen = frames.look();
    const std::uint32_t count = Frames::count(seen);
    Frame* const top = count > 0 ? &frames.at[count - 1] : nullptr;
    if (top != nullptr && top->kind.role == Frame::Role::kExcluded) {
      count_inner(*top, call);
      return false;
    }
    if (depth_limited() && count >= filter.depth) {
      count_inner(*top, call);
      return false;
    }
    if ((bits & kExcluded) != 0) {
      if (push(stack, seen, call, Frame::Role::kExcluded)) return false;
      continue;
    }
    const bool inside = top != nullptr || (filter.patterns & kIncluded) == 0;
    if (!inside && (bits & kIncluded) == 0) return false;
    if (inside && !depth_limited()) {
      if (top != nullptr) count_inner(*top, call);
      return true;
    }
    if (push(stack, seen, call, Frame::Role::kLevel)) return true;
  }
}

bool exit_wanted(Frames& frames, const Call& call, bool tail) {
  while (true) {
    const std::uint64_t seen = frames.look();
    const std::uint32_t count = Frames::count(seen);
    if (count == 0) return !depth_limited() && (filter.patterns & kIncluded) == 0;
    Frame& top = frames.at[count - 1];
    const Frame::Role role = top.kind.role;
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
bool enter_on(FollowedStack& stack, const FollowedCall& call, std::uint64_t readable,
              std::uint32_t bits) {
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

bool exit_on(FollowedStack& stack, const Call& call, bool tail) {
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

/// The stack that has this stack pointer, which becomes that of struct FollowedCall.
FollowedStack& place(std::uint64_t& stack_pointer) {
  for (const Stretch& stretch : following.stretches) {
    if (!stretch.has(stack_pointer)) continue;
    following.stacks[0].latest = &stretch;
    stack_pointer += stretch.shift;
    return following.stacks[0];
  }
  const bool elsewhere = stack_pointer < following.own.low || stack_pointer > following.own.high;
  return following.stacks[elsewhere ? 1 : 0];
}

/// Up to where memory is there to be read above a stack pointer: of a stack with known bounds all,
/// of another, which may end anywhere, the rest of the page.
std::uint64_t readable_above(const FollowedStack& stack, std::uint64_t stack_pointer) {
  constexpr std::uint64_t kPage = 4096;
  return stack.high != kNowhere ? stack.high : (stack_pointer | (kPage - 1)) + 1;
}

void bound(FollowedStack& stack, std::uint64_t low, std::uint64_t high) {
  stack.low = low;
  stack.high = high;
  stack.asking_low = stack.asking_bytes = 0;
  // The hooks of the second way do not know how much of another stack can be read.
  const std::uint64_t function_way = enters_of_one_way(Answer::kAsk);
  stack.entry_mask = high != kNowhere ? function_way : all_answers(Answer::kAsk).enter;
  prepare_answers(stack);
  // The return address of a call inside it can be read.
  stack.open.at[-1].stack_pointer = high != kNowhere ? high + 1 - sizeof(std::uint64_t) : high;
}

/// Changes a stretch so that a signal handler sees it whole or not at all.
void change(Stretch& stretch, std::uint64_t low, std::uint64_t bytes, std::uint64_t shift) {
  stretch.bytes = 0;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  stretch.low = low;
  stretch.shift = shift;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  stretch.bytes = bytes;
}

/// Has calls on the alternate signal stacks be followed as if those continued the thread's own, if
/// it is known where that is.
void follow_alternate_stacks(FollowedStack& stack) {
  const Bounds own = following.own;
  stack.latest = &kNoStretch;
  Bounds within{own.high, own.low};
  std::uint64_t above = 0;
  for (std::uint32_t index = 0; index < 2; ++index) {
    Bounds alternate = alternates[index];
    const std::uint64_t bytes = alternate.high - alternate.low;
    const std::uint64_t shift = own.low - above - alternate.high;
    if (above + bytes >= own.low) alternate = {};
    above += bytes;
    // No stack pointer is on two stretches. A handler's array lies on the stack of that handler.
    const Bounds& first = alternates[0];
    if (index > 0 && alternate.overlap(first)) {
      if (alternate.low < first.low) {
        alternate.high = first.low;
      } else {
        alternate.low = first.high < alternate.high ? first.high : alternate.high;
      }
    }
    change(following.stretches[kAlternate + index], alternate.low + 1,
           alternate.high - alternate.low, shift);
    if (!alternate.overlap(own)) continue;
    if (alternate.low < within.low) within.low = alternate.low;
    if (alternate.high > within.high) within.high = alternate.high;
  }
  const bool any_within = within.low < within.high;
  change(following.stretches[kOwnBelow], own.low,
         any_within && own.low <= within.low ? within.low + 1 - own.low : 0, 0);
  change(following.stretches[kOwnAbove], within.high + 1,
         any_within && within.high <= own.high ? own.high - within.high : 0, 0);
  const Stretch& alternate = following.stretches[kAlternate];
  const bool all = any_within || following.stretches[kAlternateOfHandler].bytes != 0;
  stack.asking_low = all ? 0 : alternate.low;
  stack.asking_bytes = all ? kNowhere : alternate.bytes;
  stack.low = any_within ? kNowhere : own.low;
}

/// Sets up a stack with memory for all_frames().
void begin_stack(FollowedStack& stack, Frame* memory) {
  memory[0] = {};
  memory[0].witness = &memory[0].call_site;
  stack.open = {memory + 1, most_frames(), 0};
  stack.stopping = {memory + 1 + most_frames(), 1, 0};
  stack.since = {memory + 2 + most_frames(), 1, 0};
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
  asking_frame.stack_pointer = kNowhere;
  asking_frame.witness = &asking_frame.call_site;
  asking_frame.enter = all_answers(Answer::kAsk).enter;
  asking_frame.kind.inner_exit = asking_frame.kind.own_exit = Answer::kAsk;
  for (FollowedStack& stack : asking_stacks) {
    stack.open.at = &asking_frame + 1;
    stack.high = kNowhere;
  }
}

void begin_filter(Thread& thread) {
  Following& mine = following;
  thread.window.min_ticks = filter.min_ticks;
  thread.window.followed = asking_stacks;
  const bool first = mine.stacks[0].open.at == nullptr;
  // After fork, the frames of the thread that called it.
  Frame* memory = first ? thread.frames : mine.stacks[0].open.at - 1;
  if (memory == nullptr) {
    const std::size_t bytes = 2 * all_frames() * sizeof(Frame);
    void* fresh = sys::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    if (sys::failed(fresh)) return;
    memory = static_cast<Frame*>(fresh);
  }
  thread.frames = memory;
  if (first) {
    mine.times_told = __atomic_load_n(&times_on, __ATOMIC_RELAXED);
    begin_stack(mine.stacks[0], memory);
    begin_stack(mine.stacks[1], memory + all_frames());
  }
  const bool known = thread.about.stack_low != 0;
  mine.own = {known ? thread.about.stack_low : 0, known ? thread.about.stack_high : kNowhere};
  bound(mine.stacks[0], mine.own.low, mine.own.high);
  bound(mine.stacks[1], 0, kNowhere);
  follow_alternate_stacks(mine.stacks[0]);
  thread.window.followed = mine.stacks;
}

void end_filter() { following = {}; }

void filter_leave(std::uint64_t lowest, std::uint64_t stack_pointer) {
  if (following.stacks[0].open.at == nullptr || local.self == nullptr) return;
  FollowedStack& stack = place(stack_pointer);
  stack.open.leave(lowest, stack_pointer);
  stack.since.leave(lowest, stack_pointer);
  if (stack.stopping.leave(lowest, stack_pointer)) switch_to(false);
}

void filter_handlers_on(std::uint64_t low, std::uint64_t high, std::uint64_t stack_pointer) {
  const bool followed = following.own.low != 0 && following.own.high != kNowhere;
  if (alternates[0].have(stack_pointer) || alternates[1].have(stack_pointer)) {
    alternates[1] = {low, high};
  } else {
    // A handler that was left without a word is not open: no stack is replaced that is in use.
    if (followed) filter_leave(0, following.own.low);
    alternates[0] = {low, high};
    alternates[1] = {};
  }
  if (followed) follow_alternate_stacks(following.stacks[0]);
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
  if (following.stacks[0].open.at == nullptr) return 1;
  const Call told{function, call_site, stack_pointer, kind & ~(kTail | kWanted | kLate)};
  FollowedCall call{told, reinterpret_cast<const std::uint64_t*>(stack_pointer)};
  FollowedStack& stack = place(call.stack_pointer);
  if ((kind & kExit) == 0) {
    // Also without patterns: the hooks ask about functions that have no decision yet.
    constexpr std::uint32_t kPatterns = kIncluded | kExcluded | kStarts | kStops;
    const std::uint32_t bits = planned_bits(function) & kPatterns;
    const std::uint64_t readable =
        (kind & kLate) != 0 ? 0 : readable_above(stack, call.stack_pointer);
    const bool recording = !switched() || enter_on(stack, call, readable, bits);
    const bool wanted = enter_wanted(stack, call, readable, bits) && recording;
    if (!wanted) {
      if (loaded.coroutines != Coroutines::kOff && local.self != nullptr) {
        discard_capture(*local.self, function);
      }
      return 0;
    }
    return switched() && following.times_told != stack.times_on ? 2 : 1;
  }
  const bool tail = (kind & kTail) != 0;
  const bool recording = !switched() || exit_on(stack, call, tail);
  if (!exit_wanted(stack.open, call, tail) || !recording) return 0;
  if (filter.min_ticks != 0 && clock_is_tsc &&
      discard_enter(*local.self, told, tail, arch::read_tsc(), filter.min_ticks)) {
    return 0;
  }
  return 1;
}
