// Libraries in link namespaces of their own (dlmopen): the loader preloads nothing there, so their
// hooks are those of the C library, which do nothing, or of a copy of ours.
#pragma once

#include <link.h>

#include <cstdint>

namespace heddle::trace {

/// The libraries with hooks that are in other namespaces than the program. By what the loader tells
/// debuggers, which from glibc 2.35 on is of all namespaces; before, there seem to be none.
class Elsewhere {
 public:
  /// `program`: what dl_iterate_phdr tells of the program. Only within its callback: the loader
  /// changes its lists under the lock that is held there.
  explicit Elsewhere(const dl_phdr_info& program);

  /// The next one; null if there is none any more.
  const link_map* next();

 private:
  struct Space;
  const Space* space_;
  const link_map* module_ = nullptr;
};

}  // namespace heddle::trace
