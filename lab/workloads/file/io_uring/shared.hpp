#pragma once

#include <unistd.h>

#include <array>

#include "harness/io_service.hpp"
#include "heddle/coop/sync/mutex.hpp"
#include "workloads/file/record_locks.hpp"

namespace heddle::lab::file {

/// The state that the strands of a scheduler share: one ring, the file, and locks for its records,
/// because an operation on a record may wait halfway.
struct shared {
  shared(coop::scheduler& s, const problem& work)
      : files(s, "io_uring", static_cast<unsigned>(work.threads())),
        data(files.adopt(dup(work.data.fd()), "the records")) {}

  coop::mutex& lock_of(const operation& wanted) {
    return locks[static_cast<std::size_t>(wanted.target.id) % record_locks::groups];
  }

  io_service files;
  coop::io::file data;
  std::array<coop::mutex, record_locks::groups> locks;
};

/// Whether `text` is the record that was asked for.
inline bool is_record(std::string_view text, int id, record& out) {
  return record::parse(std::string(text), out) && out.id == id;
}

inline std::uint64_t offset_of(int id) { return static_cast<std::uint64_t>(record::offset(id)); }

}  // namespace heddle::lab::file
