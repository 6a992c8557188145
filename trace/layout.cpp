// Checks the offsets and sizes that arch/x86_64_hooks.S relies on.
#include "arch/x86_64_layout.h"
#include "coroutines.hpp"
#include "filter.hpp"
#include "plan.hpp"
#include "thread.hpp"
#include "values.hpp"

namespace heddle::trace {

static_assert(offsetof(Local, current) == HEDDLE_LOCAL_CURRENT);
static_assert(offsetof(Window, enter_sequence) == HEDDLE_WINDOW_ENTER_SEQUENCE);
static_assert(offsetof(Window, exit_sequence) == HEDDLE_WINDOW_ENTER_SEQUENCE + 8);
static_assert(offsetof(Window, position) == HEDDLE_WINDOW_POSITION);
static_assert(offsetof(Window, limit) == HEDDLE_WINDOW_LIMIT);
static_assert(offsetof(Window, ticks) == HEDDLE_WINDOW_TICKS);
static_assert(offsetof(Window, base_stack) == HEDDLE_WINDOW_BASE_STACK);
static_assert(offsetof(Window, dropped) == HEDDLE_WINDOW_DROPPED);
static_assert(offsetof(Window, hooks) == HEDDLE_WINDOW_HOOKS);
static_assert(offsetof(Window, own_sequence) == HEDDLE_WINDOW_OWN_SEQUENCE);
static_assert(offsetof(Window, followed) == HEDDLE_WINDOW_FOLLOWED);
static_assert(offsetof(Window, base_end) == HEDDLE_WINDOW_BASE_END);
static_assert(offsetof(Window, min_ticks) == HEDDLE_WINDOW_MIN_TICKS);
static_assert(offsetof(Window, strand) == HEDDLE_WINDOW_STRAND);
static_assert(offsetof(HookSet, function_exit) == 8 && offsetof(HookSet, entry_enter) == 16 &&
              offsetof(HookSet, entry_exit) == 24);
static_assert(kUntimed == HEDDLE_KIND_UNTIMED);
static_assert(kPreempted == std::uint64_t{1} << HEDDLE_PREEMPTED_BIT);
static_assert(first_word(RecordType::kStrand, HEDDLE_STRAND_BYTES / 8,
                         static_cast<std::uint64_t>(StrandEvent::kSwitch)) == HEDDLE_STRAND_WORD);
static_assert(kSparseBytes == HEDDLE_SPARSE_BYTES);
static_assert(kExit == HEDDLE_KIND_EXIT && kEntryWay == HEDDLE_KIND_ENTRY_WAY &&
              kCall == HEDDLE_KIND_CALL && kWanted == HEDDLE_KIND_WANTED &&
              kTail == HEDDLE_KIND_TAIL);
static_assert(kStackShift == HEDDLE_STACK_SHIFT && (1u << kStackBits) - 1 == HEDDLE_STACK_MOST &&
              kStackUnit == 1u << HEDDLE_STACK_UNIT_SHIFT);
static_assert(kCalleeShift == HEDDLE_CALLEE_SHIFT &&
              (1u << kCalleeBits) - 1 == HEDDLE_CALLEE_MOST && HEDDLE_CALLEE_UNIT_SHIFT == 4);
static_assert(kTicksShift == HEDDLE_TICKS_SHIFT && kTicksBits == HEDDLE_TICKS_BITS);

static_assert(offsetof(VisitState, site) == HEDDLE_VISIT_SITE &&
              offsetof(VisitState, function) == HEDDLE_VISIT_FUNCTION &&
              offsetof(VisitState, call_site) == HEDDLE_VISIT_CALL_SITE &&
              offsetof(VisitState, stack_pointer) == HEDDLE_VISIT_STACK &&
              offsetof(VisitState, kind) == HEDDLE_VISIT_KIND &&
              offsetof(VisitState, registers) == HEDDLE_VISIT_REGISTERS &&
              offsetof(VisitState, vectors) == HEDDLE_VISIT_VECTORS &&
              sizeof(VisitState) == HEDDLE_VISIT_BYTES && HEDDLE_VISIT_BYTES % 16 == 8);
static_assert(static_cast<int>(Visited::kUnwanted) == HEDDLE_VISIT_UNWANTED &&
              static_cast<int>(Visited::kStore) == HEDDLE_VISIT_STORE &&
              Visited::kStore < Visited::kStoreSlowly && Visited::kGoOn < Visited::kUnwanted);

static_assert(first_word(RecordType::kWideEnter, 5, 0) == HEDDLE_WIDE_ENTER_WORD);
static_assert(first_word(RecordType::kCapture, 2, 0) == HEDDLE_CAPTURE_WORD);

static_assert(offsetof(FollowedStack, open) + offsetof(Frames, at) == HEDDLE_FOLLOWED_FRAMES &&
              offsetof(FollowedStack, open) + offsetof(Frames, state) == HEDDLE_FOLLOWED_STATE &&
              offsetof(FollowedStack, low) == HEDDLE_FOLLOWED_LOW &&
              offsetof(FollowedStack, high) == HEDDLE_FOLLOWED_HIGH &&
              offsetof(FollowedStack, entry_mask) == HEDDLE_FOLLOWED_ENTRY_MASK &&
              offsetof(FollowedStack, higher_enters) == HEDDLE_FOLLOWED_HIGHER &&
              offsetof(FollowedStack, deepest_enters) == HEDDLE_FOLLOWED_DEEPEST &&
              offsetof(FollowedStack, level_kinds) == HEDDLE_FOLLOWED_LEVEL_KINDS &&
              offsetof(FollowedStack, deepest) == HEDDLE_FOLLOWED_DEEPEST_FRAME &&
              offsetof(FollowedStack, asking_low) == HEDDLE_FOLLOWED_ASKING_LOW &&
              offsetof(FollowedStack, asking_bytes) == HEDDLE_FOLLOWED_ASKING_BYTES &&
              offsetof(FollowedStack, latest) == HEDDLE_FOLLOWED_LATEST &&
              sizeof(FollowedStack) == HEDDLE_FOLLOWED_BYTES);
static_assert(offsetof(Stretch, low) == HEDDLE_STRETCH_LOW &&
              offsetof(Stretch, bytes) == HEDDLE_STRETCH_BYTES &&
              offsetof(Stretch, shift) == HEDDLE_STRETCH_SHIFT);
static_assert(offsetof(Frame, function) == HEDDLE_FRAME_FUNCTION &&
              offsetof(Frame, call_site) == HEDDLE_FRAME_CALL_SITE &&
              offsetof(Frame, stack_pointer) == HEDDLE_FRAME_STACK_POINTER &&
              offsetof(Frame, witness) == HEDDLE_FRAME_WITNESS &&
              offsetof(Frame, enter) == HEDDLE_FRAME_ENTER &&
              offsetof(Frame, kind) == HEDDLE_FRAME_ENTRY_WAY &&
              offsetof(Frame, kind) + offsetof(Frame::Kind, entry_way) == HEDDLE_FRAME_ENTRY_WAY &&
              offsetof(Frame, kind) + offsetof(Frame::Kind, inner_exit) ==
                  HEDDLE_FRAME_INNER_EXIT &&
              offsetof(Frame, kind) + offsetof(Frame::Kind, own_exit) == HEDDLE_FRAME_OWN_EXIT &&
              offsetof(Frame, inlined) == HEDDLE_FRAME_INLINED &&
              HEDDLE_FRAME_INLINED == HEDDLE_FRAME_ENTRY_WAY + 4 && sizeof(Frame::Kind) == 4 &&
              offsetof(Frame, below) == HEDDLE_FRAME_BELOW && sizeof(Frame) == HEDDLE_FRAME_BYTES);
static_assert(static_cast<int>(Answer::kLeave) == HEDDLE_ANSWER_LEAVE && HEDDLE_ANSWER_LEAVE == 0 &&
              static_cast<int>(Answer::kTake) == HEDDLE_ANSWER_TAKE &&
              static_cast<int>(Answer::kTakeAsLevel) == HEDDLE_ANSWER_TAKE_AS_LEVEL &&
              static_cast<int>(Answer::kLeaveAsFrame) == HEDDLE_ANSWER_LEAVE_AS_FRAME);

/// A kind as the hooks store it.
constexpr std::uint32_t word_of(const Frame::Kind& kind) {
  return kind.entry_way | static_cast<std::uint32_t>(kind.role) << 8 |
         static_cast<std::uint32_t>(kind.inner_exit) << 16 |
         static_cast<std::uint32_t>(kind.own_exit) << 24;
}
static_assert(word_of({0, Frame::Role::kExcluded, Answer::kLeave, Answer::kLeave}) ==
                  HEDDLE_KIND_OF_EXCLUDED &&
              word_of({0, Frame::Role::kLevel, Answer::kLeave, Answer::kTake}) ==
                  HEDDLE_KIND_OF_DEPTH);
static_assert((kIncluded | kExcluded) == HEDDLE_PATTERNS_ANSWERED);
static_assert(1 << HEDDLE_DECISIONS_BITS == kDecisions);

static_assert(kSiteBits == HEDDLE_SITES_BITS);

/// Whether sites that lie near each other, as those of one program do, have places of their own.
constexpr bool spreads() {
  constexpr std::uint32_t kSites = 64;
  constexpr std::uint64_t kDistances[] = {1, 16, 29, 256, 4096};
  for (const std::uint64_t distance : kDistances) {
    for (std::uint32_t i = 0; i < kSites; ++i) {
      for (std::uint32_t k = 0; k < i; ++k) {
        const std::uint64_t first = 0x5555'5555'5000;
        if (site_place(first + i * distance) == site_place(first + k * distance)) return false;
      }
    }
  }
  return true;
}
static_assert(spreads());
static_assert(offsetof(HookState, site) == HEDDLE_STATE_SITE &&
              offsetof(HookState, function) == HEDDLE_STATE_FUNCTION &&
              offsetof(HookState, stack_pointer) == HEDDLE_STATE_STACK &&
              offsetof(HookState, registers) == HEDDLE_STATE_REGISTERS &&
              sizeof(HookState) == HEDDLE_STATE_BYTES);

}  // namespace heddle::trace
