// Records of the calling thread that are no calls.
#pragma once

#include "coroutines.hpp"
#include "quiet.hpp"
#include "recording.hpp"
#include "shelter.hpp"

namespace heddle::trace {

/// Does something with the calling thread, which is given a buffer if it has none; nothing where it
/// gets none, or where recording is paused. With `sheltered` the vector registers are kept.
template <typename Action>
void with_this_thread(Action action, bool sheltered = false) {
  if (local.busy) return;
  Process* const current = process();
  if (current == nullptr || is_lost(*current)) return;
  const Quiet quiet;
  const AtWork at_work(current->header);
  const Busy busy;
  const bool first = !attached();
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  if (first && !attach(*current, here, sheltered)) return lose_thread(*current);
  Thread& thread = *local.self;
  const Shelter shelter(thread.vectors, sheltered);
  if (first) meet_modules(*current, thread);
  // A mark or announcement without room is not counted, as it is no call. The next call tells of
  // the trouble.
  if (!thread.full && !current->paused) (void)action(*current, thread);
  local.current = &thread.window;
}

}  // namespace heddle::trace
