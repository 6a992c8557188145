// The records of a thread: what the slow path writes, and what the hooks rely on.
#pragma once

#include "buffer.hpp"
#include "window.hpp"

namespace heddle::trace {

struct Thread;

/// An enter or an exit as the hooks report it.
struct Call {
  std::uint64_t function;  ///< first way: its address; second: one within it
  std::uint64_t call_site;
  std::uint64_t stack_pointer;
  std::uint64_t kind;  ///< kCall, with kExit and kEntryWay
};

/// Among a call's kind, for the filter: it has said that it wants it; the exit hook was
/// tail-called, after the function's frame was gone; and the event is told late, when its stack has
/// changed.
inline constexpr std::uint64_t kWanted = 16, kTail = 32, kLate = 64;

/// Begins a run behind what is in the buffer: from there on the records are this thread's. 0 or a
/// negated error.
[[nodiscard]] long open_run(Process& process, Thread& thread, std::uint64_t stack_pointer);

/// Writes the run's length into it.
void end_run(Thread& thread);

/// Appends an event, with all that makes it readable: a new block, a new base. 0 or a negated
/// error: there is no room, and will be none. Signals blocked.
[[nodiscard]] long append_call(Process& process, Thread& thread, const Call& call);

/// Appends a gap: what happened to this thread here was not recorded. 0 or a negated error.
enum class GapReason : std::uint32_t { kPaused = 1, kDropped = 2 };
[[nodiscard]] long append_gap(Process& process, Thread& thread, GapReason why,
                              std::uint64_t events);

/// A stack on which a fiber is to begin, and the stack pointer of the code that makes it.
struct MadeStack {
  std::uint64_t low, high;  ///< its lowest address, and the one behind its highest
  std::uint64_t by;
};

/// Appends what runtimes and programs tell: a record of type strand; of type making; of type stack
/// made; of a type that has a text.
enum class StrandEvent : std::uint32_t { kSwitch = 1, kEnd = 2 };
[[nodiscard]] long append_strand(Process& process, Thread& thread, StrandEvent what,
                                 std::uint64_t strand);
[[nodiscard]] long append_making(Process& process, Thread& thread, Making what,
                                 std::uint32_t number);
[[nodiscard]] long append_stack(Process& process, Thread& thread, const MadeStack& made);
/// A record that has a text. The stack pointer `stack` of the code that tells goes behind the text,
/// unless it is 0.
[[nodiscard]] long append_text(Process& process, Thread& thread, RecordType type,
                               std::uint64_t strand, const char* text, std::uint64_t stack = 0);

/// Appends a record of three words with the time in the second.
[[nodiscard]] long append_record(Process& process, Thread& thread, std::uint64_t first,
                                 std::uint64_t third);

/// Appends a record of up to ten words; the second is where the time goes.
[[nodiscard]] long append_all(Process& process, Thread& thread, const std::uint64_t* words,
                              std::uint64_t count);

/// Appends the frame of the coroutine whose enter comes next (coroutines.hpp).
struct FrameRecord;
[[nodiscard]] long append_frame(Process& process, Thread& thread, const FrameRecord& record);

}  // namespace heddle::trace
