#pragma once

#include <liburing.h>

#include "workloads/file/records.hpp"

namespace heddle::lab::file {

/// A file of records through an io_uring of its own, one request at a time: as a blocking call.
/// Each thread has one of its own. Several may share the file, as with positioned_file.
class ring_file {
 public:
  /// Throws cannot_run where the kernel has no io_uring, or does not allow it.
  explicit ring_file(int fd);
  ~ring_file() { io_uring_queue_exit(&ring_); }
  ring_file(const ring_file&) = delete;
  ring_file& operator=(const ring_file&) = delete;

  /// Do as record_file's.
  [[nodiscard]] bool read(int id, record& out);
  [[nodiscard]] bool write(const record& wanted);
  /// Reads search_bytes at a time.
  [[nodiscard]] int search(int id, int from = 0);

 private:
  /// Waits for what was prepared; its result: bytes, or -errno.
  int complete();

  int fd_;
  io_uring ring_;
};

}  // namespace heddle::lab::file
