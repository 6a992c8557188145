#include "harness/in_path.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

namespace heddle::lab {

bool in_path(std::string_view program) {
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string each; std::getline(directories, each, ':');) {
    if (access((std::filesystem::path(each) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace heddle::lab
