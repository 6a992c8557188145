#include "environment.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include "load.hpp"
#include "sys.hpp"
#include "text.hpp"

namespace heddle::trace {

namespace {

/// Those that others use, too: a value of ours comes in front of the one that is there.
/// AddressSanitizer refuses to run where another library than its own was loaded first.
struct Shared {
  const char* name;
  const char* value;
};
constinit char library[4200] = {};
constexpr Shared kShared[] = {{"LD_PRELOAD=", library},
                              {"ASAN_OPTIONS=", "verify_asan_link_order=0"}};
constexpr std::size_t kSharedCount = sizeof kShared / sizeof kShared[0];

constinit char kept[8192] = {};
/// The variables that are ours alone, as entries of an environment.
constinit char* ours[kVariables] = {};
constinit std::size_t ours_count = 0;  ///< 0: nothing is mended

bool is_shared(const char* entry) {
  for (const Shared& shared : kShared) {
    if (after(shared.name, entry) != nullptr) return true;
  }
  return false;
}

/// Room for `name=ours`, and `:theirs` where there is something.
std::size_t bytes_of(const Shared& shared, const char* theirs) {
  const std::size_t more = theirs != nullptr && *theirs != '\0' ? 1 + length(theirs) : 0;
  return length(shared.name) + length(shared.value) + more + 1;
}

/// The loader asks the kernel for files in the same way before the program begins, so that what
/// lets a child run lets it ask.
bool reachable(const char* path, int how) { return arch::syscall(SYS_access, path, how) == 0; }

bool keep(Text& text, const char* name_and_equals, const char* value) {
  const std::size_t begin = text.size();
  text << name_and_equals << value << '\0';
  if (!text.fits()) return false;
  ours[ours_count++] = kept + begin;
  return true;
}

}  // namespace

const char* value_of(char* const* environment, const char* name_and_equals) {
  for (; *environment != nullptr; ++environment) {
    if (const char* const value = after(name_and_equals, *environment)) return value;
  }
  return nullptr;
}

void keep_environment() {
  Dl_info about;
  if (loaded.bare || environ == nullptr ||
      dladdr(reinterpret_cast<const void*>(&keep_environment), &about) == 0 ||
      about.dli_fname == nullptr || about.dli_fname[0] != '/') {
    return;
  }
  if (!(Text(library, sizeof library) << about.dli_fname).fits()) return;
  Text text(kept, sizeof kept);
  bool whole = true;
  for (std::size_t i = 0; i < kVariables; ++i) {
    const auto variable = static_cast<Variable>(i);
    const char* const name = name_of(variable);
    // The path that the program got may be relative to a directory that it leaves.
    const bool is_path = variable == Variable::kDirectory;
    const char* const value = is_path ? loaded.directory : value_of(environ, name);
    if (value != nullptr) whole = whole && keep(text, name, value);
  }
  if (!whole) ours_count = 0;
}

void forget_environment() {
  if (environ == nullptr) return;
  const auto is_ours = [](const char* entry) {
    for (std::size_t i = 0; i < kVariables; ++i) {
      if (after(name_of(static_cast<Variable>(i)), entry) != nullptr) return true;
    }
    return false;
  };
  char** end = environ;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!is_ours(*entry)) *end++ = *entry;
  }
  *end = nullptr;
}

Mended::Mended(char* const* environment) : old_(environment) {
  static char* const kEmpty[] = {nullptr};
  if (old_ == nullptr) old_ = kEmpty;  // Linux takes it for an empty one
  if (ours_count == 0 || loaded.barred || value_of(old_, name_of(Variable::kDirectory)) != nullptr)
    return;
  while (old_[entries_] != nullptr) ++entries_;
  bytes_ = (entries_ + ours_count + kSharedCount + 1) * sizeof(char*);
  for (const Shared& shared : kShared) bytes_ += bytes_of(shared, value_of(old_, shared.name));
  needed_ = bytes_ <= kMost && reachable(library, R_OK) && reachable(loaded.directory, W_OK);
}

char* const* Mended::write(void* memory) const {
  char** const entries = static_cast<char**>(memory);
  std::size_t count = 0;
  for (std::size_t i = 0; i < ours_count; ++i) entries[count++] = ours[i];
  char* text = reinterpret_cast<char*>(entries + entries_ + ours_count + kSharedCount + 1);
  for (const Shared& shared : kShared) {
    const char* const theirs = value_of(old_, shared.name);
    const std::size_t room = bytes_of(shared, theirs);
    Text line(text, room);
    line << shared.name << shared.value;
    if (theirs != nullptr && *theirs != '\0') line << ':' << theirs;
    entries[count++] = text;
    text += room;
  }
  for (std::size_t i = 0; i < entries_; ++i) {
    if (!is_shared(old_[i])) entries[count++] = old_[i];
  }
  entries[count] = nullptr;
  return entries;
}

}  // namespace heddle::trace
