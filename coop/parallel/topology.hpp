#pragma once

#include <filesystem>
#include <vector>

namespace heddle::coop::parallel::detail {

/// The processors that this thread may run on, in the order in which groups take them: one of each
/// core first, then the siblings. Where `sys` does not say which are of one core, each is one.
std::vector<int> processors_by_core(const std::filesystem::path& sys = "/sys/devices/system/cpu");

/// Keeps the calling thread on that processor. Throws std::system_error.
void pin_this_thread(int processor);

}  // namespace heddle::coop::parallel::detail
