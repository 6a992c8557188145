// Which instance of a C++20 coroutine is entered (heddle record --coroutines): the address of its
// frame, as the capturing hooks find it.
//
// The frame (frame_search.hpp) is in a register or on the stack where one of the coroutine's two
// functions calls the hook: at the same place whenever it calls from there. So it is looked for
// once for each such site. Every place is tried, by a system call that reads memory without harm
// (process_vm_readv(2)); what was right each time is looked at first from then on, but never
// without asking whether it can be read, for it may be chance. A site at which nothing was found
// the first time is no coroutine's. heddle record, if it has the debug information, says where to
// look (plan.hpp).
#pragma once

#include <cstdint>

#include "arch/x86_64_layout.h"
#include "frame_search.hpp"
#include "process.hpp"

namespace heddle::trace {

inline constexpr unsigned kSiteBits = 14;

/// The place of a site in heddle_plain_sites. The low 32 bits of the address alone tell it: those
/// in which sites of one program differ.
constexpr std::uint32_t site_place(std::uint64_t site) {
  return static_cast<std::uint32_t>(site) * static_cast<std::uint32_t>(HEDDLE_SITES_FACTOR) >>
         (32 - kSiteBits);
}

/// A record of type capture; the first word is 0 where there is none.
struct FrameRecord {
  std::uint64_t first, second;
};

/// The first event of a thread may be a coroutine's. Call when it is known what is asked for.
void look_from_the_first_event();

/// Chooses the process's hooks, with the filter prepared; call once per process, lock held.
void choose_hooks(Process& process);

/// Whether heddle record is to be asked where frames are.
[[nodiscard]] bool asks_for_coroutines(const Process& process);

/// After a plan was taken: recording goes on with frames if there are any to come. No lock
/// held.
void meet_planned_coroutines(Process& process);

/// The addresses have a new owner.
void forget_coroutines(std::uint64_t start, std::uint64_t end);

}  // namespace heddle::trace

extern "C" {

/// Sites of the hooks that are no coroutine's, each at its site_place(), if it is there.
[[gnu::visibility(
    "hidden")]] extern std::uint64_t heddle_plain_sites[1u << heddle::trace::kSiteBits];

/// The frame of the coroutine that is being entered. Asked by the hooks before they store the
/// enter; general registers alone, no lock, no call into libc; a signal handler may interrupt it
/// anywhere. Constant time; some microseconds while a site is new.
[[gnu::visibility("hidden")]] heddle::trace::FrameRecord heddle_find_frame(
    const heddle::trace::HookState* state);
}
