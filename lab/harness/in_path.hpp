#pragma once

#include <string_view>

namespace heddle::lab {

/// Whether there is an executable of this name in PATH.
[[nodiscard]] bool in_path(std::string_view program);

}  // namespace heddle::lab
