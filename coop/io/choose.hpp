#pragma once

#include <memory>
#include <string>
#include <utility>

#include "heddle/coop/io/engine.hpp"
#include "heddle/coop/io/service.hpp"

namespace heddle::coop::io::detail {

/// The engine for the options, and what service::choice() says of it.
std::pair<std::unique_ptr<engine>, std::string> choose(const service_options& options);

}  // namespace heddle::coop::io::detail
