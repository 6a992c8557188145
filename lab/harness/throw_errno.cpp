#include "harness/throw_errno.hpp"

#include <cerrno>
#include <system_error>

namespace heddle::lab {

void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace heddle::lab
