#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "heddle/coop/io/buffer.hpp"

namespace heddle::lab::http {

/// Bytes that are appended at the end and taken at the front, in memory that any model can hand to
/// the kernel.
class bytes {
 public:
  explicit bytes(std::size_t capacity) : memory_(capacity) {}

  [[nodiscard]] bool empty() const { return begin_ == end_; }
  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  [[nodiscard]] std::size_t capacity() const { return memory_.size(); }
  [[nodiscard]] const char* data() const { return start() + begin_; }
  [[nodiscard]] std::string_view text() const { return {data(), size()}; }
  /// The same as a buffer that shares the memory.
  [[nodiscard]] coop::io::buffer filled() const { return memory_.part(begin_, size()); }

  void take(std::size_t count) {
    begin_ += count;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  void clear() { begin_ = end_ = 0; }

  /// Where the next bytes go, at least one unless capacity() are in it; then added() says how many.
  [[nodiscard]] coop::io::buffer room() {
    if (end_ == memory_.size()) move_to_front();
    return memory_.part(end_);
  }
  void added(std::size_t count) { end_ += count; }

  void append(std::string_view more) {
    reserve(more.size());
    std::memcpy(start() + end_, more.data(), more.size());
    end_ += more.size();
  }

 private:
  [[nodiscard]] char* start() const { return reinterpret_cast<char*>(memory_.data()); }
  void move_to_front() {
    std::memmove(start(), data(), size());
    end_ -= begin_;
    begin_ = 0;
  }
  void reserve(std::size_t more) {
    if (memory_.size() - end_ >= more) return;
    if (memory_.size() - size() >= more) {
      move_to_front();
      return;
    }
    bytes larger(std::max(2 * memory_.size(), size() + more));
    std::memcpy(larger.start(), data(), size());
    larger.end_ = size();
    *this = larger;
  }

  coop::io::buffer memory_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace heddle::lab::http
