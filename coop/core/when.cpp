#include "heddle/coop/when.hpp"

#include <stdexcept>

namespace heddle::coop::detail {

void throw_none_to_wait_for() {
  throw std::invalid_argument("when_any() of nothing would wait forever: give it one at least");
}

}  // namespace heddle::coop::detail
