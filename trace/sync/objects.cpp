#include "objects.hpp"

#include <pthread.h>

#include "../load.hpp"
#include "../note.hpp"
#include "../text.hpp"
#include "../this_thread.hpp"

namespace heddle::trace {

constinit Objects* known_objects = nullptr;

namespace {

/// Places that are looked at for an object in each file.
constexpr unsigned kTries = 8;
/// Bytes of stack that a caller's frame may take.
constexpr std::uint64_t kLargestFrame = 1 << 16;
constexpr std::uint64_t kPage = 4096;

constinit __thread std::uint32_t own __attribute__((tls_model("initial-exec"))) = 0;

Object& place(Object* objects, unsigned file, std::uint64_t address, unsigned attempt) {
  return objects[(hash(address, object_bits(file)) + attempt) & (objects_of(file) - 1)];
}

std::uint32_t before(unsigned file) {
  std::uint32_t objects = 0;
  while (file > 0) objects += objects_of(--file);
  return objects;
}

/// 0 or a negated error. Process lock held.
long make_file(Objects& known, Process& process, unsigned file) {
  Text text = Text(process.path, sizeof process.path) << process.directory << "/objects-";
  text.decimal(file + 1);
  if (!text.fits()) return -ENAMETOOLONG;
  const std::uint64_t bytes = kHeaderBytes + objects_of(file) * sizeof(Object);
  void* const mapped = sys::map_own(process.path, O_CREAT | O_EXCL, bytes);
  if (sys::failed(mapped)) return sys::error_of(mapped);
  auto* const header = static_cast<ObjectsHeader*>(mapped);
  header->version = kVersion;
  header->room = objects_of(file);
  header->before = before(file);
  header->flags = kReadersCounted;
  __atomic_store_n(&header->magic, kObjectsMagic, __ATOMIC_RELEASE);
  known.headers[file] = header;
  known.process = &process;
  process.header->object_files = file + 1;
  auto* const objects = reinterpret_cast<Object*>(static_cast<char*>(mapped) + kHeaderBytes);
  __atomic_store_n(&known.objects[file], objects, __ATOMIC_RELEASE);
  const std::uint64_t latest = reinterpret_cast<std::uint64_t>(objects) | (64 - object_bits(file));
  __atomic_store_n(&known.latest, latest, __ATOMIC_RELEASE);
  return 0;
}

Objects* objects_of_process() {
  Objects* known = __atomic_load_n(&known_objects, __ATOMIC_ACQUIRE);
  if (known != nullptr) return known;
  auto* fresh = static_cast<Objects*>(sys::map_wiped_on_fork(sizeof(Objects)));
  if (fresh == nullptr) return nullptr;
  if (!__atomic_compare_exchange_n(&known_objects, &known, fresh, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    sys::munmap(fresh, sizeof(Objects));
    return known;
  }
  return fresh;
}

/// The objects of a file, which is made now if it is not there; null if it cannot be. Not from
/// within the recorder.
Object* open_file(Objects& known, unsigned file) {
  Object* const there = __atomic_load_n(&known.objects[file], __ATOMIC_ACQUIRE);
  if (there != nullptr || known.impossible || local.busy) return there;
  Process* const current = process();
  if (current == nullptr) return nullptr;
  {
    const Quiet quiet;
    const Busy busy;
    const Locked locked(current->lock);
    if (current->state == Recording::kNotStarted) process_start(*current);
    if (current->state != Recording::kRunning) {
      known.impossible = true;
    } else if (known.objects[file] == nullptr && !known.impossible) {
      if (const long error = make_file(known, *current, file); error != 0) {
        known.impossible = true;
        table_in_trouble(*current, error);
        note_trouble(current->trouble_noted, "waits are not counted: cannot make a file in",
                     current->directory, error);
      }
    }
    if (attached()) local.current = &local.self->window;
  }
  return __atomic_load_n(&known.objects[file], __ATOMIC_ACQUIRE);
}

/// Records where an object was met first, or made: what its calls say then is what it is known by.
void record_object(const Object& object, ObjectKind kind, bool made, const Caller& caller) {
  const std::uint64_t more = static_cast<std::uint64_t>(kind) | (made ? kMade : 0) |
                             std::uint64_t{number_of(&object)} << kNumberShift;
  const std::uint64_t words[] = {first_word(kObjectMet, 4, more), 0, load_word(object.key),
                                 caller.site};
  with_this_thread([&words](Process& process, Thread& thread) {
    return append_all(process, thread, words, sizeof words / sizeof words[0]);
  });
}

/// Takes a free place. False: it is not free any more.
bool settle(Object& object, std::uint64_t address, ObjectKind kind, bool made,
            const Caller& caller) {
  std::uint64_t none = 0;
  if (!__atomic_compare_exchange_n(&object.key, &none, address, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED)) {
    return false;
  }
  store_word(object.about,
             static_cast<std::uint64_t>(kind) | (made ? kMade : 0) | low_site(caller) << 32);
  record_object(object, kind, made, caller);
  return true;
}

/// From now on something else is at its address.
void retire(Object& object, std::uint64_t address) {
  __atomic_compare_exchange_n(&object.key, &address, address | 1, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
}

/// Its kind, as soon as the thread that met it has said so: it is at that, unless it is this one,
/// in a handler.
ObjectKind kind_of(const Object& object) {
  return static_cast<ObjectKind>(load_word(object.about) & 0xff);
}

/// The object, in a place of its own. `made`: it begins here.
Object* find_or_settle(std::uint64_t address, ObjectKind kind, bool made, const Caller& caller) {
  if (loaded.secure || loaded.barred || local.busy || address % 2 != 0) return nullptr;
  Objects* const known = objects_of_process();
  if (known == nullptr) return nullptr;
  for (unsigned file = 0; file < kObjectFiles; ++file) {
    Object* const objects = open_file(*known, file);
    if (objects == nullptr) break;
    if (known->process->paused) return nullptr;
    for (unsigned attempt = 0; attempt < kTries; ++attempt) {
      Object& object = place(objects, file, address, attempt);
      std::uint64_t key = load_word(object.key);
      if (key == 0) {
        if (settle(object, address, kind, made, caller)) return &object;
        key = load_word(object.key);
      }
      if (key != address) continue;
      const ObjectKind there = kind_of(object);
      if (there == ObjectKind{} || (there == kind && !made)) return &object;
      // One that is made again and again at one place, by one call, stays what it is.
      const std::uint64_t same = kMade | low_site(caller) << 32;
      if (there == kind && (load_word(object.about) & ~std::uint64_t{0xff}) == same) return &object;
      retire(object, address);
    }
  }
  // What is initialised is not used yet.
  if (made) return nullptr;
  if (known->headers[0] != nullptr) {
    count(known->headers[0]->uncounted);
  } else if (Process* const current = process(); current != nullptr) {
    process_uncounted(*current, Counted::kOperation);
  }
  return nullptr;
}

void forget_own_thread() { own = 0; }

}  // namespace

Object* find_further(std::uint64_t address, ObjectKind kind) {
  const Objects* const known = __atomic_load_n(&known_objects, __ATOMIC_ACQUIRE);
  if (known == nullptr) return nullptr;
  // The largest file first.
  for (unsigned file = kObjectFiles; file-- > 0;) {
    Object* const objects = __atomic_load_n(&known->objects[file], __ATOMIC_ACQUIRE);
    if (objects == nullptr) continue;
    for (unsigned attempt = 0; attempt < kTries; ++attempt) {
      Object& object = place(objects, file, address, attempt);
      if (is_object(object, address, kind)) return &object;
      if (load_word(object.key) == 0) break;
    }
  }
  return nullptr;
}

Object* meet_object(std::uint64_t address, ObjectKind kind, const Caller& caller) {
  return find_or_settle(address, kind, false, caller);
}

void object_made(const void* address, ObjectKind kind, const Caller& caller) {
  (void)find_or_settle(reinterpret_cast<std::uint64_t>(address), kind, true, caller);
}

std::uint32_t number_of(const Object* object) {
  const Objects* const known = __atomic_load_n(&known_objects, __ATOMIC_ACQUIRE);
  for (unsigned file = 0; known != nullptr && file < kObjectFiles; ++file) {
    const Object* const objects = __atomic_load_n(&known->objects[file], __ATOMIC_ACQUIRE);
    if (objects != nullptr && object >= objects && object < objects + objects_of(file)) {
      return before(file) + static_cast<std::uint32_t>(object - objects) + 1;
    }
  }
  return 0;
}

std::uint32_t own_thread() {
  if (own == 0 && !loaded.barred) own = static_cast<std::uint32_t>(sys::tid());
  return own;
}

void prepare_own_thread() { (void)pthread_atfork(nullptr, nullptr, forget_own_thread); }

void find_callers(std::uint64_t (&callers)[kCallers], const Caller& caller) {
  const auto here = reinterpret_cast<std::uint64_t>(caller.frame);
  // A fiber's stack may end anywhere; this page of it is there.
  std::uint64_t end = (here | (kPage - 1)) + 1;
  if (const Thread* const self = local.self; self != nullptr) {
    const RunRecord& about = self->about;
    if (here >= about.stack_low && here < about.stack_high) end = about.stack_high;
  }
  const std::uint64_t* frame = caller.frame;
  unsigned number = 0;
  for (; number < kCallers; ++number) {
    const auto at = reinterpret_cast<std::uint64_t>(frame);
    const std::uint64_t next = frame[0];
    if (next <= at || next - at > kLargestFrame || next % 16 != 0 || next + 16 > end) break;
    frame = reinterpret_cast<const std::uint64_t*>(next);
    callers[number] = low_half(frame[1]);
  }
  for (; number < kCallers; ++number) callers[number] = 0;
}

void now_holds(Object& object, std::uint32_t thread, const Caller& caller) {
  const std::uint64_t site = low_site(caller);
  store_word(object.holder, thread | site << 32);
  std::uint64_t callers[kCallers] = {};
  if (site != 0) find_callers(callers, caller);
  store_word(object.given, callers[0] | callers[1] << 32);
  store_word(object.unmet, callers[2] | callers[3] << 32);
  __atomic_store_n(&object.fifth, static_cast<std::uint32_t>(callers[4]), __ATOMIC_RELAXED);
}

}  // namespace heddle::trace
