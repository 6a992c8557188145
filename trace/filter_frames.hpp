// Which of a stack's open calls matter to the filter, told by the stack pointer and by the return
// address on the stack: a function that is left by an exception or longjmp calls no exit hook.
#pragma once

#include <cstdint>

#include "arch/x86_64.hpp"
#include "run.hpp"

namespace heddle::trace {

/// What a hook does with an event inside a frame without asking heddle_wanted (filter.hpp).
enum class Answer : std::uint8_t {
  kLeave = 0,         ///< it is not recorded
  kTake = 1,          ///< it is recorded
  kTakeAsLevel = 2,   ///< it is an enter that is recorded, and has a frame of its own
  kLeaveAsFrame = 3,  ///< it is an enter that is not recorded, and has a frame: an excluded one
  kAsk = 7,           ///< it asks; the bits of all other answers are among this one's
};

/// The answers of a frame for all events of which it is the innermost frame.
struct Answers {
  /// An enter's, a byte each: by the way in (four bytes for each), then by the patterns that the
  /// entered function matches (kIncluded and kExcluded of filter.hpp).
  std::uint64_t enter;
  Answer inner_exit;  ///< of a call that has no frame
  Answer own_exit;    ///< of the frame's call
};

/// The same answer for all enters of one way in.
constexpr std::uint64_t enters_of_one_way(Answer answer) {
  return 0x01010101 * static_cast<std::uint64_t>(answer);
}
/// The same answer for every event.
constexpr Answers all_answers(Answer answer) {
  return {enters_of_one_way(answer) * 0x100000001, answer, answer};
}

/// An open call that decides about the calls inside it. The hooks read, push and pop frames
/// themselves (arch/x86_64_filtered.inc, arch/x86_64_depth.inc).
struct Frame {
  enum class Role : std::uint8_t { kLevel, kExcluded };

  /// What is the same of many frames.
  struct Kind {
    std::uint8_t entry_way;  ///< 1: by the second way in
    Role role;
    Answer inner_exit, own_exit;  ///< as in Answers
  };

  std::uint64_t function;  ///< by the second way in: 0, so that it is never an event's
  std::uint64_t call_site;
  std::uint64_t stack_pointer;
  /// A word that can be read and is equal to the call site as long as the frame is not overwritten:
  /// the return address, or `call_site` here.
  const std::uint64_t* witness;
  std::uint64_t enter;  ///< as in Answers
  Kind kind;
  /// First way in: calls of the same function from the same call site that are open inside this one
  /// and have no frame here; those inlined into it, with its stack pointer, and those below.
  std::uint32_t inlined, below;
  std::uint64_t unused = 0;  ///< so that it has a power of two of bytes
};

/// A call as the filter follows it. One on the thread's alternate signal stack has the stack
/// pointer that it would have if that stack were the continuation of the thread's own, downwards: a
/// handler lies inside the calls that it interrupts.
struct FollowedCall : Call {
  const std::uint64_t* return_address;  ///< where it lies
};

/// The relation of an exit to an open call: it ends an inner call, this call or an outer one.
enum class Relation { kInner, kOwn, kOuter };

constexpr bool is_entry_way(const Call& call) { return (call.kind & kEntryWay) != 0; }

inline Frame frame_of(const Call& call, Frame::Role role, const Answers& answers) {
  const bool entry = is_entry_way(call);
  return {entry ? 0 : call.function,
          call.call_site,
          call.stack_pointer,
          nullptr,
          answers.enter,
          {entry ? std::uint8_t{1} : std::uint8_t{0}, role, answers.inner_exit, answers.own_exit},
          0,
          0};
}

inline bool same_call(const Frame& frame, const Call& call) {
  return frame.function == call.function && frame.call_site == call.call_site;
}

/// Whether a frame had ended, without an exit, before the call that is entered now began. The stack
/// grows down; only an inlined call leaves the stack pointer as it is, and has its container's call
/// site.
inline bool gone_before(const Frame& frame, const Call& enter) {
  if (frame.stack_pointer != enter.stack_pointer) return frame.stack_pointer < enter.stack_pointer;
  return frame.kind.entry_way != 0 || is_entry_way(enter) || frame.call_site != enter.call_site;
}

/// Whether a frame of the second way in has no return address any more, so that its call has ended.
/// The stack pointer alone does not tell: where a function catches an exception of a function that
/// it called, and then calls one with parameters on the stack, the second call's return address
/// lies below the first one's. The handler has called __cxa_begin_catch meanwhile, whose return
/// address has taken the first one's place. Memory from the current stack pointer to `readable`
/// must be there to be read.
inline bool overwritten(const Frame& frame, std::uint64_t readable) {
  if (frame.kind.entry_way == 0) return false;
  if (frame.stack_pointer + sizeof(std::uint64_t) > readable) return false;
  const std::uint64_t* const return_address =
      frame.witness != &frame.call_site
          ? frame.witness
          : reinterpret_cast<const std::uint64_t*>(frame.stack_pointer);
  if (*return_address == frame.call_site) return false;
  // A nested function of GNU C has pushed its parent's frame, which stands where the hook seeks the
  // call site, and takes it away again.
  constexpr std::uint64_t kNear = std::uint64_t{64} << 20;
  const auto place = reinterpret_cast<std::uint64_t>(return_address);
  return frame.call_site - place + kNear >= 2 * kNear;
}

/// Counts a call that is entered inside a frame, if its exit could be taken for the frame's own.
inline void count_inner(Frame& frame, const Call& enter) {
  if (frame.kind.entry_way != 0 || is_entry_way(enter) || !same_call(frame, enter)) return;
  ++(enter.stack_pointer == frame.stack_pointer ? frame.inlined : frame.below);
}

/// The relation of an exit to a frame. A function's stack pointer may be lower at its exit than at
/// its enter (alloca); that of a tail-called exit hook (`tail`) is its caller's, so higher.
inline Relation relation(Frame& frame, const Call& exit, bool tail) {
  const std::uint64_t pointer = exit.stack_pointer;
  if (frame.kind.entry_way != 0 || is_entry_way(exit)) {
    if (pointer != frame.stack_pointer) {
      return pointer < frame.stack_pointer ? Relation::kInner : Relation::kOuter;
    }
    return is_entry_way(exit) ? Relation::kOwn : Relation::kOuter;
  }
  const bool same = same_call(frame, exit);
  if (tail) {
    if (pointer > frame.stack_pointer) return same ? Relation::kOwn : Relation::kOuter;
    if (same && frame.below > 0) --frame.below;
    return Relation::kInner;
  }
  if (pointer > frame.stack_pointer) return Relation::kOuter;
  if (!same) return Relation::kInner;
  std::uint32_t& inner = pointer == frame.stack_pointer ? frame.inlined : frame.below;
  if (inner == 0) return Relation::kOwn;
  --inner;
  return Relation::kInner;
}

/// Some open calls of one stack, the innermost last. A signal handler of the thread may change them
/// at any moment; it is seen by the count of changes, and what it interrupted starts over. The
/// hooks do not count that they add a frame: as many frames as before are there again only when one
/// has been taken away, which counts.
struct Frames {
  Frame* at;
  std::uint32_t most;   ///< as many as there is room for
  std::uint64_t state;  ///< bytes that the frames take in the low half, number of changes in the
                        ///< high one

  [[nodiscard]] std::uint64_t look() const { return __atomic_load_n(&state, __ATOMIC_RELAXED); }
  [[nodiscard]] bool any() const { return count(look()) > 0; }
  static std::uint32_t count(std::uint64_t state) {
    return static_cast<std::uint32_t>(state) / std::uint32_t{sizeof(Frame)};
  }

  /// Makes it `count` frames, unless something has changed since `seen`.
  [[nodiscard]] bool change(std::uint64_t seen, std::uint32_t count) {
    return arch::replace(&state, seen, ((seen >> 32) + 1) << 32 | count * sizeof(Frame));
  }

  /// Adds a frame. False: something has changed since `seen`.
  [[nodiscard]] bool push(std::uint64_t seen, const FollowedCall& enter, Frame::Role role,
                          const Answers& answers);

  /// Ends those that had ended, without an exit, before a call that is entered now. Whether there
  /// were any. The stack can be read from the call's stack pointer to `readable`.
  bool settle(const Call& enter, std::uint64_t readable);

  /// Ends those below a stack pointer, but for lower ones than `lowest`. Whether there were any.
  bool leave(std::uint64_t lowest, std::uint64_t stack_pointer);

  void clear();

  /// For a stack of which only the outermost call is kept: it is this one, if there is none.
  void enter_outermost(const FollowedCall& enter);

  /// The relation of an exit to the outermost call, which the exit may end; kOuter if there is
  /// none.
  [[nodiscard]] Relation exit_outermost(const Call& exit, bool tail);

 private:
  template <typename Ended>
  bool end(Ended ended);
};

/// A range of stack pointers, as of an alternate signal stack, that belong to the thread's own
/// stack as struct FollowedCall has it.
struct Stretch {
  std::uint64_t low, bytes;  ///< from here, so many
  std::uint64_t shift;       ///< what FollowedCall::stack_pointer is higher by, modulo 2^64

  [[nodiscard]] bool has(std::uint64_t pointer) const { return pointer - low < bytes; }
};

/// A thread's knowledge of the open calls of one stack.
struct FollowedStack {
  /// Those that decide what is recorded inside them. In front of the first is one that stands for
  /// all of the stack: it is never ended, and has the answers where no call is open that decides.
  Frames open;
  std::uint64_t low, high;  ///< stack pointers from here to there are of this stack
  /// Added to the answers for enters of a frame of the second way in, whose return address the
  /// hooks of the first way do not look at, and those of the second only where it can be read.
  std::uint64_t entry_mask;
  /// Answers for enters inside a frame of role kLevel that is above the deepest level, or is not:
  /// by the frame's way in, with the mask.
  std::uint64_t higher_enters[2], deepest_enters[2];
  Frame::Kind level_kinds[2];  ///< of such a frame, by its way in
  const Frame* deepest;        ///< that of the deepest level that has a frame
  /// Stack pointers below `low` or above `high` may be of this stack if they are from here, so many
  /// bytes. Of these, the hooks ask about those that are not on the latest stretch.
  std::uint64_t asking_low, asking_bytes;
  const Stretch* latest;   ///< on which the latest call lay that the hooks have asked about
  Frames stopping;         ///< the outermost call of a --stop-at function
  Frames since;            ///< the outermost since recording went on
  std::uint32_t times_on;  ///< as last seen here
};

}  // namespace heddle::trace
