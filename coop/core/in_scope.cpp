#include "heddle/coop/in_scope.hpp"

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
