// To learn of modules and names in time, and of calls that are left.
#include "interpose.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unwind.h>

#include <csignal>

#include "filter.hpp"
#include "frame_memory.hpp"
#include "quiet.hpp"
#include "recording.hpp"

/// Null where the program has no unwinder when the recorder is loaded.
extern "C" [[gnu::weak]] _Unwind_Word _Unwind_GetCFA(_Unwind_Context* context);

namespace heddle::trace {

namespace {

using Open = void*(const char*, int);
using Close = int(void*);
using SetName = int(pthread_t, const char*);
using SetStack = int(const stack_t*, stack_t*);
constinit Open* real_open = nullptr;
constinit Close* real_close = nullptr;
constinit SetName* real_set_name = nullptr;
constinit SetStack* real_set_stack = nullptr;

using SetAddress = void(_Unwind_Context*, _Unwind_Ptr);
using StackPointer = _Unwind_Word(_Unwind_Context*);
constinit SetAddress* real_set_address = nullptr;
constinit StackPointer* real_stack_pointer = nullptr;

using Jump = void();
constexpr const char* kJumps[] = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"};
constinit Jump* real_jumps[4] = {};

/// Whether calls may be open that a parent recorded.
bool was_forked() {
  const Process* const current = process();
  return current != nullptr && current->fork.making != 0;
}

/// The unwinder's functions must be known before an exception asks for them: to look for them then
/// would wait for the loader's lock, and change what dlerror tells the program.
void find_unwinder() {
  (void)next(real_stack_pointer, "_Unwind_GetCFA");
  (void)next(real_set_address, "_Unwind_SetIP");
}

/// A program without exceptions opens a module, which may have some, and its unwinder for itself
/// alone (RTLD_LOCAL), where it is not found. All modules share one if it is there before.
void open_unwinder(Open* open) {
  static constinit std::uint32_t tried = 0;
  if (__atomic_load_n(&real_set_address, __ATOMIC_RELAXED) != nullptr) return;
  if (__atomic_exchange_n(&tried, 1, __ATOMIC_RELAXED) != 0) return;
  if (open("libgcc_s.so.1", RTLD_LAZY | RTLD_GLOBAL) != nullptr) find_unwinder();
}

void scan() {
  Process* const current = process();
  if (current == nullptr || current->state != Recording::kRunning || local.busy) return;
  // What this thread recorded without a time was before that.
  if (current->header->sparse != 0) heddle_append(first_word(RecordType::kTime, 3, 0), 0);
  const Quiet quiet;
  (void)update_modules(*current, true);
}

}  // namespace

[[HEDDLE_ALIGNS_STACK]] void* find_next(const char* name) { return dlsym(RTLD_NEXT, name); }

void find_what_handlers_call() {
  for (unsigned i = 0; i < 4; ++i) (void)next(real_jumps[i], kJumps[i]);
  (void)next(real_set_stack, "sigaltstack");
  if (_Unwind_GetCFA != nullptr) find_unwinder();
}

}  // namespace heddle::trace

extern "C" {

/// Called by our longjmp (arch/x86_64_longjmp.S) before it jumps to the real one, which it returns.
[[gnu::visibility("hidden")]] void* heddle_before_longjmp(std::uint64_t to, unsigned number,
                                                          std::uint64_t from) {
  if (heddle::trace::filter.active) heddle::trace::filter_leave(0, to);
  const std::uint64_t downwards = to < from ? heddle::trace::kJumpDownwards : 0;
  heddle_append(heddle::trace::first_word(heddle::trace::RecordType::kJump, 3, downwards), to);
  return reinterpret_cast<void*>(
      heddle::trace::next(heddle::trace::real_jumps[number], heddle::trace::kJumps[number]));
}

/// The unwinder is told where an exception, or a thread that ends, goes on: in the handler of a
/// function, or where its variables are destroyed. The calls inside that function are over, but for
/// those that are inlined into it: one of these may have the handler.
[[gnu::visibility("default")]] void _Unwind_SetIP(_Unwind_Context* context, _Unwind_Ptr address) {
  using namespace heddle::trace;
  // A thread that has recorded nothing has no calls to leave, unless the program forked here.
  auto* const stack_pointer = next(real_stack_pointer, "_Unwind_GetCFA");
  if (stack_pointer != nullptr && (local.self != nullptr || was_forked())) {
    const std::uint64_t to = stack_pointer(context) - 1;
    const auto from = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    // Open calls that lie lower than this frame are on another stack: a fiber runs here, and its
    // stack is a variable of a function that has called them.
    const bool downwards = to < from;
    if (filter.active) filter_leave(downwards ? 0 : from, to);
    // Out of a handler whose stack lies far below, it may go farther than the record has room for.
    const std::uint64_t units = (to - from) / kJumpUnit;
    const std::uint64_t upwards = units < kJumpUnits ? units << 1 : 0;
    heddle_append(first_word(RecordType::kJump, 3, downwards ? kJumpDownwards : upwards), to);
  }
  next(real_set_address, "_Unwind_SetIP")(context, address);
}

/// Called by our dlopen (arch/x86_64_dlopen.S) before it jumps to the real one, which it returns.
/// We don't see that one return, so hooks look for the module: the first after it became visible is
/// its constructor's, if that is instrumented, or one of the caller's.
[[gnu::visibility("hidden")]] void* heddle_before_dlopen() {
  heddle::trace::expect_module();
  auto* const real = heddle::trace::next(heddle::trace::real_open, "dlopen");
  heddle::trace::open_unwinder(real);
  return reinterpret_cast<void*>(real);
}

/// A module is written down before it can vanish.
[[gnu::visibility("default")]] int dlclose(void* handle) {
  auto* const real = heddle::trace::next(heddle::trace::real_close, "dlclose");
  heddle::trace::scan();
  const int result = real(handle);
  heddle::trace::scan();
  return result;
}

/// A thread that is named early and killed late has its name.
[[gnu::visibility("default")]] int pthread_setname_np(pthread_t thread, const char* name) {
  auto* const real = heddle::trace::next(heddle::trace::real_set_name, "pthread_setname_np");
  const int result = real(thread, name);
  if (result == 0) heddle::trace::refresh_name(static_cast<std::uint64_t>(thread));
  return result;
}

/// The filter follows handlers' calls.
[[gnu::visibility("default")]] int sigaltstack(const stack_t* stack, stack_t* old) noexcept {
  auto* const real = heddle::trace::next(heddle::trace::real_set_stack, "sigaltstack");
  const int result = real(stack, old);
  if (result != 0 || stack == nullptr) return result;
  const bool none = (stack->ss_flags & SS_DISABLE) != 0;
  const auto low = reinterpret_cast<std::uint64_t>(stack->ss_sp);
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  heddle::trace::filter_handlers_on(none ? 0 : low, none ? 0 : low + stack->ss_size, here);
  return result;
}
}
