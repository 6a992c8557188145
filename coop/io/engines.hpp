#pragma once

#include <memory>

#include "heddle/coop/io/engine.hpp"
#include "heddle/coop/io/service.hpp"

namespace heddle::coop::io::detail {

// Each throws std::system_error, which says why, where the mechanism does not work.
std::unique_ptr<engine> make_uring_engine(const service_options& options);
std::unique_ptr<engine> make_aio_engine(const service_options& options);
std::unique_ptr<engine> make_thread_engine(const service_options& options);

}  // namespace heddle::coop::io::detail
