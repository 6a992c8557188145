#pragma once

#include "workloads/file/records.hpp"

namespace heddle::lab::file {

/// A file of records by pread() and pwrite(): there is no shared position and no buffer.
///
/// Several may read, write and search at once, but for one record: a read may see half of a write.
class positioned_file {
 public:
  explicit positioned_file(int fd) : fd_(fd) {}

  /// Do as record_file's.
  [[nodiscard]] bool read(int id, record& out) const;
  [[nodiscard]] bool write(const record& wanted) const;
  /// Reads search_bytes at a time.
  [[nodiscard]] int search(int id, int from = 0) const;

 private:
  int fd_;
};

}  // namespace heddle::lab::file
