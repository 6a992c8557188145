// malloc and its like. libheddle-alloc.so is libheddle-sync.so, and this folder: it is loaded in
// the place of those where allocation is to be measured. operator new and delete of the C++
// libraries, strdup, getline and other functions of libc come through these.
#include <dlfcn.h>

#include "../interpose.hpp"
#include "../load.hpp"
#include "counts.hpp"

// <stdlib.h> has functions of floating point numbers, which Clang refuses with our flags.
extern "C" {
[[gnu::visibility("hidden")]] void* heddle_malloc(std::size_t bytes) noexcept;
void free(void* block) noexcept;
}

namespace heddle::trace {

namespace {

using Malloc = void*(std::size_t);
using Free = void(void*);
using Calloc = void*(std::size_t, std::size_t);
using Realloc = void*(void*, std::size_t);
using ReallocArray = void*(void*, std::size_t, std::size_t);
using Aligned = void*(std::size_t, std::size_t);
using PosixAligned = int(void**, std::size_t, std::size_t);
constinit Malloc* real_malloc = nullptr;
constinit Free* real_free = nullptr;
constinit Calloc* real_calloc = nullptr;
constinit Realloc* real_realloc = nullptr;
constinit ReallocArray* real_reallocarray = nullptr;
constinit Aligned* real_memalign = nullptr;
constinit Aligned* real_aligned_alloc = nullptr;
constinit PosixAligned* real_posix_memalign = nullptr;
constinit Malloc* real_valloc = nullptr;
constinit Malloc* real_pvalloc = nullptr;
constinit bool are_found = false;

/// What dlsym itself allocates while it looks for the real functions: a few blocks at most, each
/// behind its size. They are never given back.
alignas(16) constinit char early_blocks[4096] = {};
constinit std::size_t early_used = 0;
constinit __thread bool looking __attribute__((tls_model("initial-exec"))) = false;

bool is_early(const void* block) {
  return block >= early_blocks && block < early_blocks + sizeof early_blocks;
}

void* early_block(std::size_t bytes) {
  constexpr std::size_t kHead = 16;
  if (bytes > sizeof early_blocks) return nullptr;
  const std::size_t whole = kHead + ((bytes + 15) & ~std::size_t{15});
  const std::size_t at = __atomic_fetch_add(&early_used, whole, __ATOMIC_RELAXED);
  if (at > sizeof early_blocks || whole > sizeof early_blocks - at) return nullptr;
  *reinterpret_cast<std::size_t*>(early_blocks + at) = bytes;
  return early_blocks + at + kHead;
}

std::size_t early_bytes(const void* block) {
  return *reinterpret_cast<const std::size_t*>(static_cast<const char*>(block) - 16);
}

/// Finds the functions behind ours, and whether there are such: not while this very thread looks
/// for them.
bool found() {
  if (__atomic_load_n(&are_found, __ATOMIC_ACQUIRE)) [[likely]]
    return true;
  if (looking) return false;
  looking = true;
  (void)next(real_malloc, "malloc");
  (void)next(real_free, "free");
  (void)next(real_calloc, "calloc");
  (void)next(real_realloc, "realloc");
  (void)next(real_reallocarray, "reallocarray");
  (void)next(real_memalign, "memalign");
  (void)next(real_aligned_alloc, "aligned_alloc");
  (void)next(real_posix_memalign, "posix_memalign");
  (void)next(real_valloc, "valloc");
  (void)next(real_pvalloc, "pvalloc");
  looking = false;
  __atomic_store_n(&are_found, true, __ATOMIC_RELEASE);
  return true;
}

/// Whether a call within another is looked at, or one of the recorder's own.
[[gnu::always_inline]] inline bool is_inner(std::uintptr_t frame) {
  // A call that a jump has left lies deeper in the stack than this one.
  return local.busy || (own_counts.inside != 0 && frame <= own_counts.inside);
}

/// Calls the real function, and counts and times that.
template <typename Call>
[[gnu::always_inline]] inline auto timed(std::uint64_t bytes, bool frees, Call call) {
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (!__atomic_load_n(&loaded.allocation, __ATOMIC_ACQUIRE) || is_inner(frame)) return call();
  own_counts.inside = frame;
  const std::uint64_t since = ticks();
  const auto result = call();
  count_call(since, ticks(), bytes, frees);
  own_counts.inside = 0;
  return result;
}

bool begins(const char* text, const char* with) {
  while (*with != '\0') {
    if (*text++ != *with++) return false;
  }
  return true;
}

/// The name, without directories, of the file that has this address; null if that is not known.
const char* file_of(const void* address) {
  Dl_info about;
  if (dladdr(address, &about) == 0 || about.dli_fname == nullptr) return nullptr;
  const char* name = about.dli_fname;
  for (const char* at = name; *at != '\0'; ++at) {
    if (*at == '/') name = at + 1;
  }
  return name;
}

/// Whether the program's operator new is one of its own, or another allocator's, which need not
/// call malloc. The recorder has one, too, which calls what comes behind it.
bool has_other_new() {
  const void* found = dlsym(RTLD_DEFAULT, "_Znwm");
  Dl_info about, ours;
  if (found != nullptr && dladdr(found, &about) != 0 &&
      dladdr(reinterpret_cast<void*>(&heddle_malloc), &ours) != 0 &&
      about.dli_fbase == ours.dli_fbase) {
    found = dlsym(RTLD_NEXT, "_Znwm");
  }
  const char* const name = found != nullptr ? file_of(found) : nullptr;
  return name != nullptr && !begins(name, "libstdc++") && !begins(name, "libc++");
}

[[gnu::constructor]] void on_load_of_allocation() {
  if (!found()) return;
  // The executable comes before us, so that libraries call its functions, too.
  const bool other = dlsym(RTLD_DEFAULT, "malloc") != reinterpret_cast<void*>(&heddle_malloc);
  begin_counts((other ? kOtherMalloc : 0) | (has_other_new() ? kOtherNew : 0));
}

}  // namespace

}  // namespace heddle::trace

using namespace heddle::trace;

extern "C" {

void* heddle_malloc(std::size_t bytes) noexcept {
  if (!found()) return early_block(bytes);
  return timed(bytes, false, [=] { return real_malloc(bytes); });
}

[[gnu::visibility("default"), gnu::alias("heddle_malloc")]] void* malloc(std::size_t) noexcept;

[[gnu::visibility("default")]] void free(void* block) noexcept {
  if (block == nullptr || is_early(block) || !found()) return;
  timed(0, true, [=] { return real_free(block), 0; });
}

[[gnu::visibility("default")]] void* calloc(std::size_t count, std::size_t bytes) noexcept {
  std::size_t all;
  const bool fits = !__builtin_mul_overflow(count, bytes, &all);
  // Early blocks are zeros, and used once.
  if (!found()) return fits ? early_block(all) : nullptr;
  return timed(fits ? all : 0, false, [=] { return real_calloc(count, bytes); });
}

[[gnu::visibility("default")]] void* realloc(void* block, std::size_t bytes) noexcept {
  const bool looks = !found();
  if (looks || is_early(block)) {
    void* const fresh = looks ? early_block(bytes) : real_malloc(bytes);
    if (fresh != nullptr && block != nullptr) {
      const std::size_t had = early_bytes(block);
      for (std::size_t i = 0; i < had && i < bytes; ++i) {
        static_cast<volatile char*>(fresh)[i] = static_cast<const char*>(block)[i];
      }
    }
    return fresh;
  }
  return timed(bytes, false, [=] { return real_realloc(block, bytes); });
}

// libc's calls realloc, but AddressSanitizer's and its like do not.
[[gnu::visibility("default")]] void* reallocarray(void* block, std::size_t count,
                                                  std::size_t bytes) noexcept {
  std::size_t all;
  const bool fits = !__builtin_mul_overflow(count, bytes, &all);
  // realloc knows blocks that were given before the real functions were found.
  if (!found() || is_early(block)) return fits ? realloc(block, all) : nullptr;
  return timed(fits ? all : 0, false, [=] { return real_reallocarray(block, count, bytes); });
}

[[gnu::visibility("default")]] void* memalign(std::size_t boundary, std::size_t bytes) noexcept {
  if (!found()) return nullptr;
  return timed(bytes, false, [=] { return real_memalign(boundary, bytes); });
}

[[gnu::visibility("default")]] void* aligned_alloc(std::size_t boundary,
                                                   std::size_t bytes) noexcept {
  if (!found()) return nullptr;
  return timed(bytes, false, [=] { return real_aligned_alloc(boundary, bytes); });
}

[[gnu::visibility("default")]] int posix_memalign(void** to, std::size_t boundary,
                                                  std::size_t bytes) noexcept {
  if (!found()) return ENOMEM;
  return timed(bytes, false, [=] { return real_posix_memalign(to, boundary, bytes); });
}

[[gnu::visibility("default")]] void* valloc(std::size_t bytes) noexcept {
  if (!found()) return nullptr;
  return timed(bytes, false, [=] { return real_valloc(bytes); });
}

[[gnu::visibility("default")]] void* pvalloc(std::size_t bytes) noexcept {
  if (!found()) return nullptr;
  return timed(bytes, false, [=] { return real_pvalloc(bytes); });
}
}
