#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace heddle::coop::io {

/// Memory for file I/O. Copies refer to the same bytes, which live as long as any of them does; an
/// operation holds one until the kernel has let go of the memory, even if the strand that asked for
/// it is gone. So there is no way to free what the kernel still writes to.
///
///     buffer page(4096);
///     std::size_t count = await(data.read(page, 0)).value();
///     std::string_view text = page.text(count);
///
/// Neither the references are counted nor the bytes guarded for several threads: a buffer belongs
/// to the scheduler's thread, and what is in it while an operation is in flight is anyone's guess.
class buffer {
 public:
  /// None.
  buffer() noexcept = default;
  /// `bytes` zeros. For O_DIRECT, `alignment` (a power of two) is the device's block size or 4096.
  /// Throws std::bad_alloc.
  explicit buffer(std::size_t bytes, std::size_t alignment = 64);
  [[nodiscard]] static buffer copy_of(std::string_view text);

  buffer(const buffer& other) noexcept
      : block_(other.block_), data_(other.data_), size_(other.size_) {
    if (block_ != nullptr) ++block_->references;
  }
  buffer(buffer&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  buffer& operator=(buffer other) noexcept {
    std::swap(block_, other.block_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~buffer() {
    if (block_ != nullptr && --block_->references == 0) free(block_);
  }

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data_, size_}; }
  /// The first `count` bytes, at most all, as text.
  [[nodiscard]] std::string_view text(std::size_t count = SIZE_MAX) const noexcept {
    return {reinterpret_cast<const char*>(data_), count < size_ ? count : size_};
  }

  /// The same memory from byte `from` on, `count` bytes of it at most.
  [[nodiscard]] buffer part(std::size_t from, std::size_t count = SIZE_MAX) const noexcept;

 private:
  // In front of the bytes.
  struct block {
    std::size_t references;
    std::size_t alignment;
    std::byte* memory;  // what was allocated
  };
  static void free(block* unused) noexcept;

  block* block_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace heddle::coop::io
