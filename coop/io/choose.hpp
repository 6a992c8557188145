#pragma once

#include <memory>
#include <string>

#include "engines.hpp"
#include "heddle/coop/ext/engine.hpp"

namespace heddle::coop::io::detail {

struct choice {
  std::unique_ptr<io::engine> engine;
  std::string files;      // what service::choice() says
  std::string sockets;    // what service::socket_choice() says
  bool sockets_by_epoll;  // otherwise by the engine
};

/// The engine for the options.
choice choose(const engine_options& options);

}  // namespace heddle::coop::io::detail
