#include "snapshot.hpp"

#include <signal.h>

#include "load.hpp"
#include "note.hpp"
#include "quiet.hpp"
#include "text.hpp"
#include "thread.hpp"

namespace heddle::trace {

namespace {

/// A trace directory being written. All of it under the process lock, which lends its scratch.
struct Snapshot {
  Process* process;
  char directory[4224];   ///< of the process in the snapshot
  std::size_t stem;       ///< length of the snapshot's own
  std::uint64_t end;      ///< of its events
  std::uint32_t modules;  ///< bytes of its list of them

  long make();
  long add_process();
  long add_modules();
  long add_blocks(long fd, Thread* threads);
  long add_all_blocks();
  long create(const char* name);
};

/// Makes a directory of the trace, marked as one itself. 0 or a negated error.
long make_trace(const char* name) {
  const long trace = open_trace();
  if (trace < 0) return trace;
  long error = sys::mkdir_in(trace, name);
  const long made = error != 0 ? error : sys::open_in(trace, name, O_PATH | O_DIRECTORY);
  sys::close(trace);
  if (made < 0) return made;
  error = mark_trace(made);
  sys::close(made);
  return error;
}

long Snapshot::make() {
  for (std::uint64_t number = 1;; ++number) {
    Text text = Text(directory, sizeof directory) << loaded.directory << '/';
    const char* const name = directory + text.size();
    (text << "snapshot-").decimal(number);
    if (!text.fits()) return -ENAMETOOLONG;
    stem = text.size();
    const long error = make_trace(name);
    if (error == -EEXIST) continue;
    if (error != 0) return error;
    text << '/';
    text.decimal(process->header->pid);
    return text.fits() ? sys::mkdir_own(directory) : -ENAMETOOLONG;
  }
}

long Snapshot::create(const char* name) {
  const Text text = Text(process->path, sizeof process->path) << directory << '/' << name;
  return text.fits() ? sys::open_own(process->path, O_WRONLY | O_CREAT | O_EXCL, 0600)
                     : -ENAMETOOLONG;
}

long Snapshot::add_process() {
  const long fd = create("process");
  if (fd < 0) return fd;
  ProcessHeader& header = *process->header;
  const long error = sys::write_all_at(fd, &header, sizeof header, 0);
  // Its blocks are in events, and nowhere else.
  const std::uint32_t none = 0;
  const long again = sys::write_all_at(fd, &none, sizeof none, offsetof(ProcessHeader, buffers));
  // The program may have loaded more since its list was copied.
  const long last =
      sys::write_all_at(fd, &modules, sizeof modules, offsetof(ProcessHeader, module_bytes));
  const std::uint32_t asked = header.asked | kTablesLeftOut;
  const long left_out = sys::write_all_at(fd, &asked, sizeof asked, offsetof(ProcessHeader, asked));
  sys::close(fd);
  return error != 0 ? error : again != 0 ? again : last != 0 ? last : left_out;
}

long Snapshot::add_modules() {
  const Locked locked(process->modules.lock);
  const long from = sys::open_own(process->modules.path, O_RDONLY);
  if (from < 0) return from;
  const long fd = create("modules");
  long error = fd < 0 ? fd : 0;
  char* const scratch = process->modules.line;
  for (std::uint64_t offset = 0; error == 0;) {
    const long n = sys::read(from, scratch, sizeof process->modules.line);
    if (n <= 0) {
      error = n;
      break;
    }
    error = sys::write_all_at(fd, scratch, static_cast<std::size_t>(n), offset);
    offset += static_cast<std::uint64_t>(n);
    modules = static_cast<std::uint32_t>(offset);
  }
  sys::close(from);
  if (fd >= 0) sys::close(fd);
  return error;
}

/// Their threads go on meanwhile: a block that was given up for a newer one while we copied it is
/// left out.
long Snapshot::add_blocks(long fd, Thread* threads) {
  for (Thread* thread = threads; thread != nullptr; thread = thread->next) {
    const Buffer& buffer = thread->buffer;
    for (std::uint32_t i = 0; i < buffer.header->slots; ++i) {
      const Slot& slot = buffer.header->slot[i];
      SlotState state;
      __atomic_load(&slot.state, &state, __ATOMIC_ACQUIRE);
      if (state == SlotState::kFree) continue;
      const std::uint64_t number = __atomic_load_n(&slot.number, __ATOMIC_ACQUIRE);
      const std::uint64_t address = buffer.slot_address(i);
      std::uint64_t used = slot.used;
      if (state == SlotState::kFilling) {
        used = __atomic_load_n(&buffer.header->position, __ATOMIC_ACQUIRE) - address;
        if (used > kSlotBytes) continue;  // just beginning
      }
      if (used <= sizeof(BlockHeader)) continue;
      BlockHeader block = *reinterpret_cast<const BlockHeader*>(address);
      const std::uint64_t room = (used + kBlockUnit - 1) / kBlockUnit * kBlockUnit;
      block.room = static_cast<std::uint32_t>(room);
      block.used = static_cast<std::uint32_t>(used);
      long error = sys::write_all_at(fd, reinterpret_cast<const char*>(address) + sizeof block,
                                     used - sizeof block, end + sizeof block);
      if (error != 0) return error;
      __atomic_thread_fence(__ATOMIC_ACQUIRE);
      if (slot.number != number || slot.state == SlotState::kFree) continue;
      error = sys::write_all_at(fd, &block, sizeof block, end);
      if (error != 0) return error;
      end += room;
    }
  }
  return 0;
}

long Snapshot::add_all_blocks() {
  const long fd = create("events");
  if (fd < 0) return fd;
  long error = add_blocks(fd, process->threads);
  if (error == 0) error = add_blocks(fd, process->idle);
  // The records of a last block that was given up meanwhile are there without their header.
  if (error == 0) error = arch::syscall(SYS_ftruncate, fd, end);
  sys::close(fd);
  return error;
}

void on_signal(int) {
  const Quiet quiet;
  Process* const current = process();
  if (current == nullptr || current->state != Recording::kRunning || local.busy) return;
  const Busy busy;
  if (const long error = take_snapshot(*current); error != 0) {
    note_trouble(current->snapshot_trouble_noted, "cannot write a snapshot in", loaded.directory,
                 error);
  }
  if (attached()) local.current = &local.self->window;
}

}  // namespace

long take_snapshot(Process& process) {
  if (process.flight == 0) return 0;
  (void)scan_modules(process.modules, true);
  const Locked locked(process.lock);
  auto* const snapshot = static_cast<Snapshot*>(sys::map_wiped_on_fork(sizeof(Snapshot)));
  if (snapshot == nullptr) return -ENOMEM;
  snapshot->process = &process;
  process_stamp(process);
  long error = snapshot->make();
  if (error == 0) error = snapshot->add_modules();
  if (error == 0) error = snapshot->add_all_blocks();
  if (error == 0) error = snapshot->add_process();
  sys::munmap(snapshot, sizeof(Snapshot));
  return error;
}

void prepare_snapshot_signal() {
  const int signal = static_cast<int>(loaded.snapshot_signal);
  if (signal == 0) return;
  struct sigaction action {};
  if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return;
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(signal, &action, nullptr);
}

}  // namespace heddle::trace
