#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace heddle::lab {

/// The processes that the main thread of `process` has forked; nothing if it has gone. Throws
/// std::runtime_error if the kernel does not say.
[[nodiscard]] std::optional<std::vector<pid_t>> children_of(pid_t process);

/// Whatever tells as children_of() does.
using child_finder = std::function<std::optional<std::vector<pid_t>>(pid_t)>;

/// `process`, its children, theirs, and so on; without `without` and theirs. One that ends
/// meanwhile may be among them. Throws std::runtime_error if `process` itself has gone.
[[nodiscard]] std::vector<pid_t> family(pid_t process, const std::vector<pid_t>& without,
                                        const child_finder& children = children_of);

/// The processor time of processes that come and go, in ns: of those that `alive` lists and of
/// those that `gone` tells the sum of. One that ends while this looks is counted once: then it
/// looks again, and calls both anew. Throws std::runtime_error if that goes on for seconds.
///
///     family_cpu_ns([&] { return family(server, {}); }, [&] { return ended_cpu_ns.load(); });
[[nodiscard]] std::int64_t family_cpu_ns(const std::function<std::vector<pid_t>()>& alive,
                                         const std::function<std::int64_t()>& gone);

}  // namespace heddle::lab
