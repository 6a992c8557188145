#include "choose.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "engines.hpp"

namespace heddle::coop::io::detail {
namespace {

struct candidate {
  mechanism which;
  const char* name;
  std::unique_ptr<engine> (*make)(const service_options&);
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

}  // namespace

std::pair<std::unique_ptr<engine>, std::string> choose(const service_options& options) {
  if (const candidate* const only = asked_for(options)) {
    return {only->make(options), std::string(only->name) + " (as asked)"};
  }
  std::string refused;
  for (const candidate& each : candidates) {
    try {
      auto made = each.make(options);
      return {std::move(made),
              refused.empty() ? each.name : std::string(each.name) + " (" + refused + ')'};
    } catch (const std::system_error& error) {
      if (each.which == mechanism::threads) throw;
      refused += (refused.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  throw std::logic_error("no mechanism for file I/O");  // threads returned or threw
}

}  // namespace heddle::coop::io::detail
