#include "heddle/coop/io/buffer.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace heddle::coop::io {

buffer::buffer(std::size_t bytes, std::size_t alignment) : size_(bytes) {
  const std::size_t aligned = std::max(alignment, alignof(block));
  const std::size_t head = (sizeof(block) + aligned - 1) / aligned * aligned;
  auto* const memory =
      static_cast<std::byte*>(::operator new (head + bytes, std::align_val_t{aligned}));
  data_ = memory + head;
  block_ = new (data_ - sizeof(block)) block{1, aligned, memory};
  std::memset(data_, 0, bytes);
}

buffer buffer::copy_of(std::string_view text) {
  buffer copy(text.size());
  std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), copy.data());
  return copy;
}

buffer buffer::part(std::size_t from, std::size_t count) const noexcept {
  buffer shared(*this);
  const std::size_t begin = std::min(from, size_);
  shared.data_ += begin;
  shared.size_ = std::min(count, size_ - begin);
  return shared;
}

void buffer::free(block* unused) noexcept {
  ::operator delete (unused->memory, std::align_val_t{unused->alignment});
}

}  // namespace heddle::coop::io
