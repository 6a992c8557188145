// When the library is loaded, and when the program exits.
#include "contexts.hpp"
#include "coroutines.hpp"
#include "creation.hpp"
#include "environment.hpp"
#include "exec.hpp"
#include "fork.hpp"
#include "frame_memory.hpp"
#include "interpose.hpp"
#include "load.hpp"
#include "note.hpp"
#include "quiet.hpp"
#include "recording.hpp"
#include "snapshot.hpp"

// <stdlib.h> has functions of floating point numbers, which Clang refuses with our flags.
extern "C" int at_quick_exit(void (*)()) noexcept;

namespace heddle::trace {

namespace {

const char* base_name(const char* path) {
  const char* name = path;
  for (; *path != '\0'; ++path) {
    if (*path == '/') name = path + 1;
  }
  return name;
}

/// quick_exit() has run the program's handlers.
void on_quick_exit() {
  Process* const current = process();
  if (current != nullptr && current->state == Recording::kRunning) tell_left_frames();
}

[[gnu::constructor]] void on_load() {
  load();
  if (loaded.secure) forget_environment();
  look_from_the_first_event();
  if (Process* const current = process(); current != nullptr) identify(*current);
  find_control();
  prepare_thread_ends();
  prepare_snapshot_signal();
  prepare_forks();
  find_what_handlers_call();
  find_seccomp();
  find_starts();
  find_creation();
  find_makecontext();
  // Handlers run in reverse order, so this is the last.
  (void)at_quick_exit(on_quick_exit);
  keep_environment();
  record_early_calls();
}

/// exit() has run the program's handlers, or main has returned. Destructors that run later still
/// record.
[[gnu::destructor]] void on_exit() {
  Process* const current = process();
  if (current == nullptr || current->state == Recording::kNotStarted) return;
  if (current->state == Recording::kRunning) tell_left_frames();
  const Quiet quiet;
  if (current->state == Recording::kRunning) (void)update_modules(*current, true);
  const Locked locked(current->lock);
  if (current->state == Recording::kImpossible) {
    // Of what is counted in the trace, heddle record tells.
    if (current->control == nullptr) note_lost(current->lost);
    return;
  }
  if (coroutines_hidden() != 0) note_blind(coroutines_hidden());
  refresh_names(*current);
  process_stamp(*current);
  current->header->flags |= kProcessExitSeen;
  if (loaded.bare && loaded.made_by == current->header->pid) {
    note_recorded(base_name(current->header->executable), loaded.made_by, loaded.directory);
  }
}

}  // namespace

}  // namespace heddle::trace
