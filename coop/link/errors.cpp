#include "heddle/coop/link/errors.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <typeinfo>

#include "heddle/coop/detail/link_side.hpp"

namespace heddle::coop::detail {

namespace {

// The type name of the exception that is being handled.
std::string type_in_flight() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "unknown";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), &std::free);
  return readable != nullptr ? readable.get() : type->name();
}

}  // namespace

std::unique_ptr<handler_error> describe(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    return std::make_unique<handler_error>(handler_error{type_in_flight(), thrown.what()});
  } catch (const cancelled&) {
    return std::make_unique<handler_error>(
        handler_error{type_in_flight(), "the handler was cancelled"});
  } catch (...) {
    const std::string type = type_in_flight();
    return std::make_unique<handler_error>(handler_error{type, "the handler threw a " + type});
  }
}

void throw_handler_failed(const handler_error& error) {
  throw handler_failed(error.what, error.type);
}

void link_side::throw_closed() const {
  const std::string which = name().empty() ? "a link" : "link \"" + name() + '"';
  // Written before we learnt that the other end is closed.
  if (peer_closed_ && !reason_.empty()) throw link_closed(which + " is closed: " + reason_);
  throw link_closed(which + (closed_ ? " is closed" : " was closed at its other end"));
}

}  // namespace heddle::coop::detail
