#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace heddle::lab {

/// A file that a workload reads: made in TMPDIR, or else in the current directory, or else in
/// /var/tmp, where it has no name, so that nothing is left of it however the program ends. It is in
/// the page cache, and on the disk, before anything is timed.
class scratch_file {
 public:
  /// Writes the content of block number `index` to `words`; every block has block_bytes bytes.
  using filler = std::function<void(std::uint64_t index, std::uint64_t* words)>;

  static constexpr std::size_t block_bytes = 4096;
  static constexpr std::size_t block_words = block_bytes / sizeof(std::uint64_t);

  /// Throws std::system_error.
  scratch_file(std::uint64_t blocks, const filler& fill);
  ~scratch_file();
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;

  /// Opens it for reading; `direct` by O_DIRECT, past the page cache, for buffers that begin at a
  /// multiple of block_bytes. The caller closes it, also after this is gone. Throws
  /// std::system_error, and cannot_run where the file system has no O_DIRECT.
  [[nodiscard]] int open(bool direct) const;

 private:
  int fd_;
};

}  // namespace heddle::lab
