#include "making.hpp"

#include "quiet.hpp"
#include "thread.hpp"

namespace heddle::trace {

std::uint32_t record_making(Process& process, Making what) {
  if (local.busy || process.state != Recording::kRunning || !attached()) return 0;
  const Quiet quiet;
  const AtWork at_work(process.header);
  const Busy busy;
  Thread& thread = *local.self;
  std::uint32_t number = 0;
  if (!thread.full && !process.paused &&
      __atomic_load_n(&process.makings, __ATOMIC_RELAXED) < kMostMakings) {
    number = __atomic_add_fetch(&process.makings, 1, __ATOMIC_RELAXED);
    const std::uint64_t& position = thread.buffer.header->position;
    const bool idle = position == thread.idle_until;
    // The next call tells of the trouble.
    if (append_making(process, thread, what, number) != 0) number = 0;
    if (idle) thread.idle_until = position;
  }
  local.current = &thread.window;
  return number;
}

}  // namespace heddle::trace
