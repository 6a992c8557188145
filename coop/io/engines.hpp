#pragma once

#include <memory>

#include "heddle/coop/ext/engine.hpp"
#include "heddle/coop/io/service.hpp"

namespace heddle::coop::io::detail {

struct engine_options : service_options {
  /// Made by another thread than the one that uses it: a group's engine, by the thread that made
  /// the group.
  bool other_thread = false;
};

// Each throws std::system_error, which says why, where the mechanism does not work.
std::unique_ptr<engine> make_uring_engine(const engine_options& options);
std::unique_ptr<engine> make_aio_engine(const engine_options& options);
std::unique_ptr<engine> make_thread_engine(const engine_options& options);

}  // namespace heddle::coop::io::detail
