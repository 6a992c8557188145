// The bases of a run while --min-time discards records from its end: with a base that is discarded,
// the one before it comes into force again.
#pragma once

#include "format.hpp"
#include "window.hpp"

namespace heddle::trace {

struct Thread;

/// Completes the records of a stretch of a run: holds the ticks without their low 26 bits, and the
/// base stack pointer.
struct Base {
  std::uint64_t ticks;
  std::uint64_t stack;
  std::uint64_t end;  ///< address behind its record, which for a run's first base is the run's
};

/// The bases of a run. They change only while signals are blocked.
///
/// Invariant: a base record stands neither behind another base record nor behind a capture. So when
/// an enter, its capture and the base behind the enter were discarded, the last record is again the
/// one from before the call.
struct Bases {
  static constexpr std::uint32_t kMost = 64;

  Base earlier[kMost];       ///< the latest ones before the window's, in the order of the records
  std::uint32_t remembered;  ///< number of them
  std::uint32_t changes;     ///< how often the window's base has changed

  /// The number of changes. A reader that may be interrupted by a signal handler has read a base
  /// and records that belong together if the number is the same before and after.
  [[nodiscard]] std::uint32_t look() const {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const std::uint32_t seen = __atomic_load_n(&changes, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return seen;
  }
};

/// The window's base is the run's own. Signals blocked.
void begin_bases(Thread& thread);

/// Prepares for a base that is about to be appended, and to be the window's: discards the base that
/// is the last record, and moves the captures that are the last records, so that the base has room
/// in front of them. Returns the number of their bytes: `position` is where the base goes, and must
/// then be set behind the captures. Signals blocked.
[[nodiscard]] std::uint64_t before_base(Thread& thread);

/// Discards the base that is the last record, if there is one. For hooks: it blocks signals itself.
/// O(1), but for a run that has more than Bases::kMost bases, whose records are read again once for
/// so many.
void discard_last_base(Thread& thread);

}  // namespace heddle::trace
