#include "heddle/coop/in_scope.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace heddle::coop::detail {

std::exception_ptr caught(void (*code)(void*), void* argument) {
  try {
    code(argument);
  } catch (const forced_unwind&) {
    throw;
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace heddle::coop::detail

namespace heddle::coop {

std::exception_ptr scope::failure_or(std::exception_ptr thrown) noexcept {
  return error_ && detail::is_cancellation(thrown) ? std::exchange(error_, nullptr) : thrown;
}

void scope::ends_before_children() const noexcept {
  const std::size_t count = children_.size();
  std::string text = name_.empty() ? "a scope" : "scope \"" + name_ + '"';
  text += " is destroyed before " + std::to_string(count) +
          (count == 1 ? " strand in it has ended, " : " strands in it have ended, among them ") +
          detail::named(*children_.front()) + ": use in_scope(), which waits for them";
  detail::fatal(text.c_str());
}

}  // namespace heddle::coop
