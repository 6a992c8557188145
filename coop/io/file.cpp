#include "heddle/coop/io/file.hpp"

#include <linux/stat.h>

#include <system_error>

namespace heddle::coop::io {

void detail::throw_error(int error, const std::string& where) {
  throw std::system_error(error, std::generic_category(), where);
}

file::transfer file::size() const {
  return transfer(new detail::operation(detail::verb::size, state_, buffer(sizeof(struct statx))));
}

}  // namespace heddle::coop::io
