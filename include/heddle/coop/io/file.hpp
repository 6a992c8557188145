#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "heddle/coop/await.hpp"  // for users: await() and within()
#include "heddle/coop/ext/operation.hpp"
#include "heddle/coop/io/buffer.hpp"

namespace heddle::coop::io {

/// An open file, pipe or the like, made by service::open() or service::adopt(). Copies refer to the
/// same one; it is closed when close() has ended, or with the last copy and the last operation.
///
///     await(data.write_all(buffer::copy_of("hello"), 0)).value();
///
/// When each wait suspends and ends, and what destruction means: detail::operation_awaitable.
/// Results: bytes moved, or the kernel's error (EBADF after close()). EINTR is never one: what a
/// signal interrupted is started again.
class file {
 public:
  using transfer = detail::operation_awaitable<std::size_t>;
  using done = detail::operation_awaitable<void>;

  /// One read, from byte `offset` on, into `into`: as much as there is at once, 0 at the end.
  transfer read(const buffer& into, std::uint64_t offset) const {
    return move_bytes(detail::verb::read, into, static_cast<std::int64_t>(offset), false);
  }
  /// The same at the file's own position; from a pipe, what has come.
  transfer read(const buffer& into) const {
    return move_bytes(detail::verb::read, into, at_position, false);
  }
  /// Reads until `into` is full: fewer bytes than that are the rest of the file. Beside an error,
  /// reached() is what was read before it; within() a limit, that error may be ETIME.
  transfer read_all(const buffer& into, std::uint64_t offset) const {
    return move_bytes(detail::verb::read, into, static_cast<std::int64_t>(offset), true);
  }
  transfer read_all(const buffer& into) const {
    return move_bytes(detail::verb::read, into, at_position, true);
  }

  /// One write of `from` to byte `offset`: may move fewer bytes than that.
  transfer write(const buffer& from, std::uint64_t offset) const {
    return move_bytes(detail::verb::write, from, static_cast<std::int64_t>(offset), false);
  }
  transfer write(const buffer& from) const {
    return move_bytes(detail::verb::write, from, at_position, false);
  }
  /// Writes until all of `from` is written, or an error (ENOSPC): reached() is what was written
  /// before it.
  transfer write_all(const buffer& from, std::uint64_t offset) const {
    return move_bytes(detail::verb::write, from, static_cast<std::int64_t>(offset), true);
  }
  transfer write_all(const buffer& from) const {
    return move_bytes(detail::verb::write, from, at_position, true);
  }

  /// Waits until what was written is on the device; fdatasync() without the times and the like.
  done fsync() const { return done(new detail::operation(detail::verb::fsync, state_)); }
  done fdatasync() const { return done(new detail::operation(detail::verb::fdatasync, state_)); }

  /// Its size, in bytes.
  transfer size() const;

  /// Closes it, once its operations in flight are over; new ones are refused. A wait that was begun
  /// can neither be cancelled nor limited.
  done close() const { return done(new detail::operation(detail::verb::close, state_)); }

  /// Its file descriptor; -1 once it is closed.
  [[nodiscard]] int fd() const noexcept { return state_->fd; }
  [[nodiscard]] std::string_view name() const noexcept { return state_->name; }

  /// An empty handle: assign before use.
  file() noexcept = default;
  explicit file(detail::file_ref state) noexcept : state_(std::move(state)) {}

 private:
  static constexpr std::int64_t at_position = detail::operation::at_position;

  transfer move_bytes(detail::verb what, const buffer& memory, std::int64_t offset,
                      bool whole) const {
    auto* const wanted = new detail::operation(what, state_, memory);
    wanted->offset = offset;
    wanted->whole = whole;
    return transfer(wanted);
  }

  detail::file_ref state_;
};

}  // namespace heddle::coop::io
