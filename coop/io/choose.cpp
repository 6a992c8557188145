#include "choose.hpp"

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace heddle::coop::io::detail {
namespace {

struct candidate {
  mechanism which;
  const char* name;
  std::unique_ptr<engine> (*make)(const engine_options&);
};
constexpr candidate candidates[] = {
    {mechanism::io_uring, "io_uring", &make_uring_engine},
    {mechanism::linux_aio, "linux_aio", &make_aio_engine},
    {mechanism::threads, "threads", &make_thread_engine},
};

const candidate* asked_for(const service_options& options) {
  const char* const wanted = std::getenv("HEDDLE_IO");
  for (const candidate& each : candidates) {
    if (options.only ? *options.only == each.which
                     : wanted != nullptr && wanted == std::string_view(each.name)) {
      return &each;
    }
  }
  if (options.only || wanted == nullptr || *wanted == '\0') return nullptr;
  throw std::invalid_argument("HEDDLE_IO is \"" + std::string(wanted) +
                              "\", not io_uring, linux_aio or threads: correct it or unset it");
}

choice choose_for_files(const engine_options& options) {
  if (const candidate* const only = asked_for(options)) {
    return {only->make(options), std::string(only->name) + " (as asked)", {}, true};
  }
  std::string refused;
  for (const candidate& each : candidates) {
    try {
      auto made = each.make(options);
      return {std::move(made),
              refused.empty() ? each.name : std::string(each.name) + " (" + refused + ')',
              {},
              true};
    } catch (const std::system_error& error) {
      if (each.which == mechanism::threads) throw;
      refused += (refused.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  throw std::logic_error("no mechanism for file I/O");  // threads returned or threw
}

// The mechanism that the user asked for, if any.
std::optional<socket_mechanism> asked_for_sockets(const service_options& options) {
  const char* const wanted = std::getenv("HEDDLE_SOCKETS");
  if (options.sockets || wanted == nullptr || *wanted == '\0') return options.sockets;
  if (wanted == std::string_view("epoll")) return socket_mechanism::epoll;
  if (wanted == std::string_view("io_uring")) return socket_mechanism::io_uring;
  throw std::invalid_argument("HEDDLE_SOCKETS is \"" + std::string(wanted) +
                              "\", not epoll or io_uring: correct it or unset it");
}

}  // namespace

choice choose(const engine_options& options) {
  const auto sockets = asked_for_sockets(options);
  choice made = choose_for_files(options);
  made.sockets = sockets ? "epoll (as asked)" : "epoll";
  if (sockets == socket_mechanism::io_uring) {
    if (!made.files.starts_with("io_uring")) {
      throw std::system_error(
          ENOTSUP, std::generic_category(),
          "sockets by io_uring, where files are not: those are by " + made.files);
    }
    made.sockets = "io_uring (as asked)";
    made.sockets_by_epoll = false;
  }
  return made;
}

}  // namespace heddle::coop::io::detail
