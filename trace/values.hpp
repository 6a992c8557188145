// What calls are given and give back (heddle record --args, --retval): the valued hooks
// (arch/x86_64_values.S) record it before an enter or an exit.
//
// heddle record knows from debug information where the values are when a hook is called: its plan
// (plan.hpp) has a recipe for each call of a hook that is wanted. What a value points to is read by
// process_vm_readv(2) unless it lies on the stack that is in use, so that no pointer is a wrong
// one.
#pragma once

#include "process.hpp"
#include "window.hpp"

namespace heddle::trace {

struct Thread;

/// The state of a hook's caller, whole. By the first way the registers that functions need not
/// preserve, and the vectors, are not known.
struct VisitState {
  std::uint64_t site;      ///< return address of the hook
  std::uint64_t function;  ///< first way: what the hook was called with; second: the site
  std::uint64_t call_site;
  std::uint64_t stack_pointer;  ///< as recorded
  std::uint64_t kind;           ///< as struct Call's, with kTail
  std::uint64_t registers[16];  ///< by DWARF's numbers; rsp is the stack pointer
  std::uint64_t vectors[8][2];  ///< xmm0 to xmm7
};

/// What the hook does then.
enum class Visited : std::uint32_t {
  kGoOn = 0,        ///< as if it had not asked
  kUnwanted = 1,    ///< nothing: the filter leaves the event out
  kStore = 2,       ///< it stores the event, which the filter wants
  kStoreSlowly = 3  ///< the same by the slow path
};

/// A recipe's words are steps, but for the first: bits 0–31 the number of the shape in which they
/// leave their values, 32–47 the number of steps. A step: bits 0–7 what it does, 8–15 a register,
/// 16–31 `n`, 32–63 a signed offset (docs/trace-format.md, Plans).
enum class Step : std::uint8_t {
  kRegister = 1,  ///< `a` is the register and the offset
  kLoad = 2,      ///< `a` is the word at `a` and the offset; register 1: on the stack in use
  kPut = 3,       ///< records the low n bytes of `a`
  kVector = 4,    ///< records the low n bytes of a vector register
  kCopy = 5,      ///< records n bytes at `a` and the offset; register 1: on the stack in use
  kString = 6,    ///< records the text at `a` up to its zero, n bytes of it at most
  kText = 7,      ///< the same, of a text with its pointer at `a` + the offset's low half, its
                  ///< length at `a` + the high half
  kKeep = 8,      ///< `b` is `a`
  kView = 9,      ///< records the text at `a` of `b` bytes, n of them at most
};

/// The most words of a record.
inline constexpr std::uint64_t kMostValueWords = 80;

/// The hooks of a process that records values, in place of these.
[[nodiscard]] const HookSet* valued(const HookSet* hooks);

/// The addresses have a new owner.
void forget_values(std::uint64_t start, std::uint64_t end);

/// Whether a record is of arguments or of a result, by its first word, which is also its last.
constexpr bool is_values(std::uint64_t word) {
  const std::uint64_t type = word & 0xffff;
  return type == static_cast<std::uint64_t>(RecordType::kArguments) << 4 ||
         type == static_cast<std::uint64_t>(RecordType::kResult) << 4;
}

/// Appends such a record. 0 or a negated error.
[[nodiscard]] long append_values(Process& process, Thread& thread, const std::uint64_t* words,
                                 std::uint64_t count);

}  // namespace heddle::trace

extern "C" {

/// Appends a record without a system call: whole, or not at all where a signal or another thread
/// interrupts it, or where something else is to be done first. Says whether it did.
[[gnu::visibility("hidden")]] bool heddle_append_values(const std::uint64_t* words,
                                                        std::uint64_t count);

/// Records what the plan tells of this call of a hook. General registers alone; a signal handler
/// may interrupt it anywhere. 1.5 KB of stack.
[[gnu::visibility("hidden")]] heddle::trace::Visited heddle_visit(
    const heddle::trace::VisitState* state);
}
