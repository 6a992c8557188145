#pragma once

#include <sys/types.h>

#include <vector>

namespace heddle::lab::tracing {

/// Processes that do nothing, as fast as they can, until this is destroyed: each keeps a processor
/// from being free.
class busy_processors {
 public:
  explicit busy_processors(int count);
  ~busy_processors();
  busy_processors(const busy_processors&) = delete;
  busy_processors& operator=(const busy_processors&) = delete;

 private:
  std::vector<pid_t> processes_;
};

}  // namespace heddle::lab::tracing
