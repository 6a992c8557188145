// The names that the kernel knows the threads by.
#include <sys/prctl.h>

#include "quiet.hpp"
#include "text.hpp"
#include "thread.hpp"

namespace heddle::trace {

namespace {

/// In its later runs and in the one that it is at.
void set_name(Thread& thread, const char* name) {
  Text(thread.about.name, sizeof thread.about.name) << name;
  if (thread.run != nullptr) Text(thread.run->name, sizeof thread.run->name) << name;
}

void name_other(Thread& thread) {
  if (thread.named) return;
  char path[64];
  Text text = Text(path, sizeof path) << "/proc/self/task/";
  text.decimal(thread.about.tid) << "/comm";
  char name[32] = {};
  std::size_t size = sys::read_file(path, name, sizeof name - 1);
  if (size == 0) return;  // it has just ended
  if (name[size - 1] == '\n') --size;
  name[size] = '\0';
  set_name(thread, name);
}

}  // namespace

void name_self(Thread& thread) {
  if (thread.named) return;
  char name[16] = {};
  arch::syscall(SYS_prctl, PR_GET_NAME, name);
  set_name(thread, name);
}

void name_for_good(Thread& thread, const char* name) {
  set_name(thread, name);
  thread.named = true;
}

void refresh_name(std::uint64_t pthread) {
  Process* const current = process();
  if (current == nullptr || current->state != Recording::kRunning) return;
  const Quiet quiet;
  const Locked locked(current->lock);
  for (Thread* thread = current->threads; thread != nullptr; thread = thread->next) {
    if (thread->pthread == pthread) name_other(*thread);
  }
}

void refresh_names(Process& process) {
  for (Thread* thread = process.threads; thread != nullptr; thread = thread->next) {
    name_other(*thread);
  }
}

}  // namespace heddle::trace
