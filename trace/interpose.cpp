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
constinit Unseen unseen_set_address = {}, unseen_stack_pointer = {};

using Jump = void();
constexpr const char* kJumps[] = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"};
constinit Jump* real_jumps[4] = {};

/// Whether calls may be open that a parent recorded.
bool was_forked() {
  const Process* const current = process();
  return current != nullptr && current->fork.making != 0;
}

void scan() {
  Process* const current = process();
  if (current == nullptr || current->state != Recording::kRunning || local.busy) return;
  // What this thread recorded without a time was before that.
  if (current->header->sparse != 0) heddle_append(first_word(RecordType::kTime, 3, 0), 0);
  const Quiet quiet;
  (void)update_modules(*current, true);
}

/// Records, and lets the filter know, that calls of the stack at `to` that lie below it are over.
void leave_calls(std::uint64_t to, std::uint64_t from) {
  if (filter.active) filter_leave(to);
  heddle_append(first_word(RecordType::kJump, 3, to < from ? kJumpDownwards : 0), to);
}

}  // namespace

[[HEDDLE_ALIGNS_STACK]] void* find_next(const char* name) { return dlsym(RTLD_NEXT, name); }

[[HEDDLE_ALIGNS_STACK]] void* find_for(const void* caller, const char* name, Unseen& unseen) {
  Dl_info info;
  const bool found = dladdr(caller, &info) != 0;
  // Acquire: what is said of the module is written.
  const bool known = __atomic_load_n(&unseen.known, __ATOMIC_ACQUIRE) != 0;
  if (found && known && unseen.module == info.dli_fbase) return unseen.function;
  void* function = find_next(name);
  if (function != nullptr || !found) return function;
  (void)dlerror();  // it was no error of the program's
  void* const module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (module == nullptr) return nullptr;
  function = dlsym(module, name);
  if (__atomic_exchange_n(&unseen.begun, 1, __ATOMIC_RELAXED) != 0) {
    dlclose(module);  // its code runs, so it stays as long as it is called
    return function;
  }
  // Not closed, so that no other module is ever at its place.
  unseen.module = info.dli_fbase;
  unseen.function = function;
  __atomic_store_n(&unseen.known, 1, __ATOMIC_RELEASE);
  return function;
}

void find_what_handlers_call() {
  for (unsigned i = 0; i < 4; ++i) (void)next(real_jumps[i], kJumps[i]);
  (void)next(real_set_stack, "sigaltstack");
}

}  // namespace heddle::trace

extern "C" {

/// Called by our longjmp (arch/x86_64_longjmp.S) before it jumps to the real one, which it returns.
[[gnu::visibility("hidden")]] void* heddle_before_longjmp(std::uint64_t to, unsigned number,
                                                          std::uint64_t from) {
  heddle::trace::leave_calls(to, from);
  return reinterpret_cast<void*>(
      heddle::trace::next(heddle::trace::real_jumps[number], heddle::trace::kJumps[number]));
}

/// The unwinder is told where an exception, or a thread that ends, goes on: in the handler of a
/// function, or where its variables are destroyed. The calls inside that function are over, but for
/// those that are inlined into it: one of these may have the handler.
[[gnu::visibility("default")]] void _Unwind_SetIP(_Unwind_Context* context, _Unwind_Ptr address) {
  using namespace heddle::trace;
  const void* const caller = __builtin_return_address(0);
  auto* const stack_pointer =
      next_for(caller, real_stack_pointer, "_Unwind_GetCFA", unseen_stack_pointer);
  // A thread that has recorded nothing has no calls to leave, unless the program forked here.
  if (stack_pointer != nullptr && (local.self != nullptr || was_forked())) {
    const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    leave_calls(stack_pointer(context) - 1, here);
  }
  next_for(caller, real_set_address, "_Unwind_SetIP", unseen_set_address)(context, address);
}

/// Called by our dlopen (arch/x86_64_dlopen.S) before it jumps to the real one, which it returns.
/// We don't see that one return, so hooks look for the module: the first after it became visible is
/// its constructor's, if that is instrumented, or one of the caller's.
[[gnu::visibility("hidden")]] void* heddle_before_dlopen() {
  heddle::trace::expect_module();
  return reinterpret_cast<void*>(heddle::trace::next(heddle::trace::real_open, "dlopen"));
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
