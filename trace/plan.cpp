#include "plan.hpp"

#include <linux/futex.h>
#include <sys/file.h>

#include "filter.hpp"
#include "load.hpp"
#include "note.hpp"
#include "text.hpp"
#include "words.hpp"

constinit std::uint64_t heddle_decisions[heddle::trace::kDecisions]{};

namespace heddle::trace {

namespace {

/// A plan file as it is mapped, privately: `users` is ours.
struct PlanHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t modules;
  /// In the file, the bytes of `modules` that this and the plans before it answer; once these are
  /// taken over, the modules below that still use the plan.
  std::uint64_t users;
  std::uint32_t sites;  ///< of values, behind the ranges
  std::uint32_t words;  ///< of their recipes, behind the sites
};
struct PlanModule {
  std::uint64_t start, end;
  std::uint64_t first, count;  ///< of its ranges, behind the last module
};
struct PlanRange {
  std::uint64_t start;
  std::uint32_t size;
  std::uint32_t bits;
};
static_assert(sizeof(PlanHeader) == 32 && sizeof(PlanModule) == 32 && sizeof(PlanRange) == 16 &&
              sizeof(ValueSite) == 24);

/// A module with functions that matched. Who finds its version odd, or changed behind him, passes
/// it over: a module that comes or goes has no code running, so it is none that is being asked for.
struct Slot {
  std::uint32_t version;
  std::uint64_t start, end;  ///< 0: free
  const PlanRange* ranges;
  std::uint64_t count;
  PlanHeader* plan;
};
constexpr std::uint32_t kMostSlots = 4096;
constinit Slot slots[kMostSlots]{};
constinit std::uint32_t used_slots = 0;
constinit bool coroutines = false;

/// How many modules the loader had ever loaded when the slots knew all of them; 0: they don't. Like
/// the slots, fork copies it, so that a child knows what its parent did.
constinit std::uint64_t planned_adds = 0;

/// How often the decisions were thrown away.
constinit std::uint32_t generation = 0;

const PlanModule* modules_of(const PlanHeader* plan) {
  return reinterpret_cast<const PlanModule*>(plan + 1);
}

/// Number of its ranges; its modules' counts are right.
std::uint64_t ranges_of(const PlanHeader* plan) {
  std::uint64_t ranges = 0;
  for (std::uint32_t i = 0; i < plan->modules; ++i) ranges += modules_of(plan)[i].count;
  return ranges;
}

/// Behind its ranges.
ValueSite* sites_of(PlanHeader* plan) {
  auto* const ranges = reinterpret_cast<const PlanRange*>(modules_of(plan) + plan->modules);
  return reinterpret_cast<ValueSite*>(const_cast<PlanRange*>(ranges + ranges_of(plan)));
}

/// Bytes of a plan with so many ranges.
std::uint64_t bytes_of(const PlanHeader& plan, std::uint64_t ranges) {
  return sizeof plan + plan.modules * sizeof(PlanModule) + ranges * sizeof(PlanRange) +
         plan.sites * sizeof(ValueSite) + plan.words * sizeof(std::uint64_t);
}

std::uint32_t find_range(const Slot& slot, std::uint64_t address) {
  std::uint64_t low = 0, high = slot.count;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (slot.ranges[middle].start <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return 0;
  const PlanRange& range = slot.ranges[low - 1];
  return address - range.start < range.size ? range.bits : 0;
}

/// What `find` says of the slot whose module holds the address; kNotPlanned or null if none does.
template <typename Result, typename Find>
Result look_up(std::uint64_t address, Result none, Find find) {
  const std::uint32_t used = __atomic_load_n(&used_slots, __ATOMIC_ACQUIRE);
  for (std::uint32_t i = 0; i < used; ++i) {
    const std::uint32_t version = __atomic_load_n(&slots[i].version, __ATOMIC_ACQUIRE);
    const Slot copy = slots[i];
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (version % 2 != 0 || __atomic_load_n(&slots[i].version, __ATOMIC_RELAXED) != version)
      continue;
    if (address >= copy.start && address < copy.end) return find(copy);
  }
  return none;
}

std::uint32_t look_up(std::uint64_t address) {
  return look_up(address, kNotPlanned, [=](const Slot& slot) { return find_range(slot, address); });
}

const ValueSite* find_site(PlanHeader* plan, std::uint64_t address) {
  const ValueSite* const sites = sites_of(plan);
  std::uint64_t low = 0, high = plan->sites;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (sites[middle].address < address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < plan->sites && sites[low].address == address ? &sites[low] : nullptr;
}

void change(Slot& slot, const PlanModule* module, PlanHeader* plan) {
  PlanHeader* const before = slot.plan;
  __atomic_store_n(&slot.version, slot.version | 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  slot.plan = plan;
  slot.start = module != nullptr ? module->start : 0;
  slot.end = module != nullptr ? module->end : 0;
  slot.count = module != nullptr ? module->count : 0;
  slot.ranges = module != nullptr
                    ? reinterpret_cast<const PlanRange*>(
                          reinterpret_cast<const PlanModule*>(plan + 1) + plan->modules) +
                          module->first
                    : nullptr;
  __atomic_store_n(&slot.version, (slot.version | 1) + 1, __ATOMIC_RELEASE);
  if (plan != nullptr) ++plan->users;
  if (before != nullptr && --before->users == 0) {
    sys::munmap(before, bytes_of(*before, ranges_of(before)));
  }
}

/// False: there are too many modules.
bool install(const PlanModule& module, PlanHeader* plan) {
  Slot* free = nullptr;
  for (std::uint32_t i = 0; i < used_slots; ++i) {
    Slot& slot = slots[i];
    if (slot.start < module.end && module.start < slot.end) change(slot, nullptr, nullptr);
    if (slot.end == 0 && free == nullptr) free = &slot;
  }
  // Where frames or values are looked for it matters that there are none.
  if (module.count == 0 && loaded.coroutines == Coroutines::kOff && !loaded.values) return true;
  if (free == nullptr) {
    if (used_slots == kMostSlots) return false;
    free = &slots[used_slots];
    change(*free, &module, plan);
    __atomic_store_n(&used_slots, used_slots + 1, __ATOMIC_RELEASE);
    return true;
  }
  change(*free, &module, plan);
  return true;
}

void widen(const PlanRange& range) {
  if (filter.active) return;
  if ((range.bits & (kMakesFrames | kDestroysFrames)) != 0) {
    __atomic_store_n(&frame_code.told, true, __ATOMIC_RELAXED);
  }
  if ((range.bits & kDestroysFrames) == 0) return;
  // Hooks may read one of the two before the other: the plan's verdict on the address counts.
  if (frame_code.high == 0 || range.start < frame_code.low) {
    __atomic_store_n(&frame_code.low, range.start, __ATOMIC_RELAXED);
  }
  if (range.start + range.size > frame_code.high) {
    __atomic_store_n(&frame_code.high, range.start + range.size, __ATOMIC_RELAXED);
  }
}

/// Whether a mapped file of so many bytes is a plan.
bool valid(const PlanHeader& plan, std::uint64_t bytes) {
  if (bytes < sizeof plan || plan.magic != kPlanMagic || plan.version != kVersion) return false;
  const auto* const modules = reinterpret_cast<const PlanModule*>(&plan + 1);
  std::uint64_t expected = sizeof plan + plan.modules * sizeof *modules;
  if (expected > bytes) return false;
  std::uint64_t ranges = 0;
  for (std::uint32_t i = 0; i < plan.modules; ++i) {
    if (modules[i].first != ranges || modules[i].count > bytes / sizeof(PlanRange)) return false;
    ranges += modules[i].count;
  }
  return bytes_of(plan, ranges) == bytes;
}

/// Makes pointers of the numbers by which sites refer to their recipes. False: there is a wrong
/// one.
bool settle_sites(PlanHeader* plan) {
  ValueSite* const sites = sites_of(plan);
  const auto* const words = reinterpret_cast<const std::uint64_t*>(sites + plan->sites);
  for (std::uint32_t i = 0; i < plan->sites; ++i) {
    const std::uint64_t first = sites[i].first;
    if (first >= plan->words || first + recipe_words(words[first]) > plan->words) return false;
    sites[i].recipe = words + first;
  }
  return true;
}

/// Who is looking a function up in the old state, and stores what it finds behind us, sees then
/// that the generation is another: its store and our words are in one order with both fences.
void forget_decisions() {
  __atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  for (std::uint64_t& word : heddle_decisions) store_word(word, 0);
}

/// Notes in the process's header that a plan leaves functions out, and why, a negated error; the
/// first reason stands.
void plan_lacks(Process& process, long error) {
  const std::uint32_t wanted =
      (filter.patterns != 0 ? kWantedPatterns : 0) | (loaded.values ? kWantedValues : 0);
  if (wanted == 0 || process.header == nullptr || process.header->unplanned != 0) return;
  process.header->wanted_of_plan = wanted;
  process.header->unplanned = static_cast<std::uint32_t>(-error);
}

/// Maps the plan of this name, which is then removed, and takes over what it says. 0 or a negated
/// error.
long take_plan(Process& process, char* path) {
  const long fd = sys::open_own(path, O_RDONLY);
  if (fd < 0) return fd;
  struct stat status;
  long error = arch::syscall(SYS_fstat, fd, &status);
  void* mapped = nullptr;
  const auto bytes = error == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
  if (error == 0 && !S_ISREG(status.st_mode)) error = -ENODEV;
  if (error == 0) {
    mapped = sys::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
    if (sys::failed(mapped)) error = sys::error_of(mapped);
  }
  sys::close(fd);
  if (error != 0) return error;
  auto* const plan = static_cast<PlanHeader*>(mapped);
  if (!valid(*plan, bytes) || !settle_sites(plan)) {
    sys::munmap(mapped, bytes);
    return -EPROTO;
  }
  sys::unlink(path);
  process.planned = plan->users;
  // Hooks keep the addresses of its sites, so that one with sites stays.
  plan->users = plan->sites != 0 ? 2 : 1;
  const auto* const modules = reinterpret_cast<const PlanModule*>(plan + 1);
  for (std::uint32_t i = 0; i < plan->modules && error == 0; ++i) {
    if (!install(modules[i], plan)) error = -ENOMEM;
  }
  const auto* const ranges = reinterpret_cast<const PlanRange*>(modules + plan->modules);
  const std::uint64_t all = ranges_of(plan);
  for (std::uint64_t i = 0; i < all; ++i) {
    if (ranges[i].size == 0) {  // heddle record could not read the module
      plan_lacks(process, -static_cast<long>(ranges[i].bits));
      continue;
    }
    if (ranges[i].bits >> 8 != 0) __atomic_store_n(&coroutines, true, __ATOMIC_RELAXED);
    widen(ranges[i]);
  }
  if (--plan->users == 0) sys::munmap(mapped, bytes);
  if (filter.patterns != 0 || frame_code.told) forget_decisions();
  return error;
}

/// heddle record holds a lock on `control` while it runs.
bool recorder_is_gone() {
  const long fd = open_in_trace("control", O_RDONLY);
  if (fd < 0) return true;
  const long result = arch::syscall(SYS_flock, fd, LOCK_SH | LOCK_NB);
  sys::close(fd);
  return result == 0;
}

/// Whether another program has cut or removed the process's `modules`: heddle record cannot answer
/// lines that are gone.
bool modules_are_cut(Process& process) {
  const std::uint64_t bytes = __atomic_load_n(&process.modules.bytes, __ATOMIC_ACQUIRE);
  Text path = Text(process.plan_path, sizeof process.plan_path) << process.directory << "/modules";
  if (!path.fits()) return false;
  const long fd = sys::open_own(process.plan_path, O_RDONLY);
  if (fd < 0) return fd == -ENOENT;
  struct stat status;
  const long error = arch::syscall(SYS_fstat, fd, &status);
  sys::close(fd);
  return error == 0 && static_cast<std::uint64_t>(status.st_size) < bytes;
}

void wait_for_answer(Control& control, std::uint32_t answers) {
  constexpr timespec kTick{0, 100'000'000};
  arch::syscall(SYS_futex, &control.answers, FUTEX_WAIT, answers, &kTick, nullptr, 0);
}

long ask(Process& process) {
  constexpr std::uint64_t kPatience = 30'000'000'000;  // ns; a library of a million functions takes
                                                       // some seconds
  constexpr std::uint32_t kNoAnswers = ~0u;
  if (process.control == nullptr) return -ESRCH;
  Control& control = *process.control;
  const std::uint64_t began = sys::nanoseconds(CLOCK_MONOTONIC);
  __atomic_fetch_add(&control.requests, 1, __ATOMIC_ACQ_REL);
  arch::syscall(SYS_futex, &control.requests, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  while (true) {
    const std::uint32_t answers = __atomic_load_n(&control.answers, __ATOMIC_ACQUIRE);
    Text text = Text(process.plan_path, sizeof process.plan_path) << process.directory << "/plan-";
    text.decimal(process.plans + 1);
    if (!text.fits()) return -ENAMETOOLONG;
    const long error = take_plan(process, process.plan_path);
    if (error != -ENOENT) {
      ++process.plans;
      return error;
    }
    if (answers == kNoAnswers || recorder_is_gone()) return -ESRCH;
    if (sys::nanoseconds(CLOCK_MONOTONIC) - began > kPatience) return -ETIMEDOUT;
    wait_for_answer(control, answers);
    const bool answered = __atomic_load_n(&control.answers, __ATOMIC_ACQUIRE) != answers;
    if (!answered && modules_are_cut(process)) return -ENODATA;
  }
}

/// Why heddle record answers no more, a negated error: it has said so, or is gone.
long refusal(const Process& process) {
  if (process.control == nullptr) return -ESRCH;
  const std::uint32_t said = __atomic_load_n(&process.control->refusal, __ATOMIC_RELAXED);
  return said != 0 ? -static_cast<long>(said) : -ESRCH;
}

}  // namespace

constinit FrameCode frame_code{};

std::uint32_t planned_bits(std::uint64_t address) {
  std::uint64_t& word = heddle_decisions[address >> 4 & (kDecisions - 1)];
  const std::uint64_t known = load_word(word);
  if (known >> 8 == address) return known & 0xff;
  const std::uint32_t before = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
  const std::uint32_t found = look_up(address);
  const std::uint32_t bits = found == kNotPlanned ? 0 : found & 0xff;
  store_word(word, address << 8 | bits);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(&generation, __ATOMIC_RELAXED) != before) store_word(word, 0);
  return bits;
}

std::uint32_t planned_range(std::uint64_t address) { return look_up(address); }

bool planned_site(std::uint64_t address, const ValueSite*& site) {
  site = nullptr;
  return look_up(address, false, [&](const auto& slot) {
    site = find_site(slot.plan, address);
    return true;
  });
}

bool plan_has_coroutines() { return __atomic_load_n(&coroutines, __ATOMIC_RELAXED); }

void ask_for_plan(Process& process) {
  if (process.plan_given_up) return;
  const Locked locked(process.plan_lock);
  while (!process.plan_given_up) {
    // In this order: the lines of the modules that were counted here are among the bytes.
    const std::uint64_t adds = __atomic_load_n(&process.modules.adds, __ATOMIC_ACQUIRE);
    const std::uint64_t bytes = __atomic_load_n(&process.modules.bytes, __ATOMIC_ACQUIRE);
    if (process.planned >= bytes) {
      planned_adds = adds;
      return;
    }
    const std::uint64_t known = __atomic_exchange_n(&planned_adds, 0, __ATOMIC_ACQ_REL);
    // A forked child has its parent's modules, and the parent's plans say all.
    const bool knows_all = known != 0 && known == adds;
    const long error = knows_all && process.plans == 0 ? -ESRCH : ask(process);
    if (error == 0) continue;
    if (error == -ESRCH && knows_all) {
      process.planned = bytes;
      planned_adds = known;
      return;
    }
    process.plan_given_up = true;
    const long why = error == -ESRCH ? refusal(process) : error;
    plan_lacks(process, why);
    if (filter.patterns != 0 || loaded.values) note_unplanned(process.directory, why);
  }
}

}  // namespace heddle::trace
