// What -finstrument-functions calls, and when recording begins and ends.
#include "hooks.hpp"

#include "load.hpp"
#include "note.hpp"
#include "quiet.hpp"
#include "store.hpp"

namespace heddle::trace {

namespace {

/// Where the processor's TSC cannot serve.
[[gnu::noinline]] void record_by_system_clock(std::uint64_t function, std::uint64_t call_site,
                                              std::uint64_t stack_pointer, std::uint64_t exit_bit) {
  store_event(function, call_site, stack_pointer, exit_bit, ticks);
}

[[gnu::always_inline]] inline void record(void* function, void* call_site, void* stack_pointer,
                                          std::uint64_t exit_bit) {
  const auto f = reinterpret_cast<std::uint64_t>(function);
  const auto c = reinterpret_cast<std::uint64_t>(call_site);
  const auto s = reinterpret_cast<std::uint64_t>(stack_pointer);
  // Not yet chosen before the first event, which takes the slow path either way.
  if (!clock_is_tsc) [[unlikely]]
    return record_by_system_clock(f, c, s, exit_bit);
  store_event(f, c, s, exit_bit, arch::read_tsc);
}

const char* base_name(const char* path) {
  const char* name = path;
  for (; *path != '\0'; ++path) {
    if (*path == '/') name = path + 1;
  }
  return name;
}

[[gnu::constructor]] void on_load() {
  load();
  prepare_thread_ends();
}

/// exit() has run the program's handlers, or main has returned. Destructors that run later still
/// record.
[[gnu::destructor]] void on_exit() {
  Process* const current = process();
  if (current == nullptr || current->state == Recording::kNotStarted) return;
  const Quiet quiet;
  if (current->state == Recording::kRunning) scan_modules(current->modules);
  const Locked locked(current->lock);
  if (current->state == Recording::kImpossible) {
    note_lost(current->lost, current->directory, current->error);
    return;
  }
  refresh_names(*current);
  process_stamp(*current);
  current->header->flags |= kProcessExitSeen;
  if (loaded.bare && loaded.made_by == current->header->pid) {
    note_recorded(base_name(current->header->executable), loaded.made_by, loaded.directory);
  }
}

}  // namespace

}  // namespace heddle::trace

extern "C" {

[[gnu::visibility("default")]] void __cyg_profile_func_enter(void* function, void* call_site) {
  heddle::trace::record(function, call_site, __builtin_dwarf_cfa(), 0);
}

[[gnu::visibility("default")]] void __cyg_profile_func_exit(void* function, void* call_site) {
  heddle::trace::record(function, call_site, __builtin_dwarf_cfa(), heddle::trace::kExitBit);
}
}
