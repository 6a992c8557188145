#include "heddle/coop/in_scope.hpp"

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

}  // namespace heddle::coop
