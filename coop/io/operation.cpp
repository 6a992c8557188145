#include "heddle/coop/io/operation.hpp"

#include <linux/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core.hpp"
#include "heddle/coop/io/file.hpp"

namespace heddle::coop::io {
namespace detail {
namespace {

const char* kind_of(verb what) noexcept {
  switch (what) {
    case verb::open:
      return "an open of";
    case verb::close:
      return "a close of";
    case verb::read:
      return "a read of";
    case verb::write:
      return "a write of";
    case verb::fsync:
      return "an fsync of";
    case verb::fdatasync:
      return "an fdatasync of";
    case verb::size:
      return "the size of";
  }
  return "?";
}

bool on_given_up(coop::detail::wait_list& list, coop::detail::wait_node&) {
  auto& unwanted = static_cast<operation&>(list);
  unwanted.file->owner->give_up(unwanted);
  return true;
}

const std::string nameless;

}  // namespace

operation::operation(verb its_verb, file_ref its_file) noexcept
    : wait_list(kind_of(its_verb), its_file.get() != nullptr ? its_file->name : nameless,
                &on_given_up),
      what(its_verb),
      file(std::move(its_file)) {}

void release(file_state* state) noexcept {
  if (--state->references != 0) return;
  if (state->fd >= 0) ::close(state->fd);
  state->owner->release();
  delete state;
}

bool refuse(operation& wanted) noexcept {
  const file_state* const file = wanted.file.get();
  const bool open =
      file != nullptr && !file->owner->stopped() && (file->fd >= 0) != (wanted.what == verb::open);
  if (open) return false;
  wanted.error = EBADF;
  return true;
}

void start(operation& wanted, coop::detail::strand_block& self) {
  wanted.file->owner->start(wanted, self);
}

void drop(operation* unwanted) noexcept {
  if (unwanted->in_flight) {
    unwanted->file->owner->abandon(*unwanted);
  } else {
    delete unwanted;
  }
}

template <>
result<std::size_t> operation_awaitable<std::size_t>::get() const {
  if (operation_->error == 0) return result(operation_->done);
  return {operation_->error, operation_->described(), operation_->done};
}

template <>
result<void> operation_awaitable<void>::get() const {
  if (operation_->error == 0) return {};
  return {operation_->error, operation_->described()};
}

template <>
result<file> operation_awaitable<file>::get() const {
  if (operation_->error == 0) return result(file(operation_->file));
  return {operation_->error, operation_->described()};
}

void throw_error(int error, const std::string& where) {
  throw std::system_error(error, std::generic_category(), where);
}

}  // namespace detail

file::transfer file::size() const {
  auto* const wanted = new detail::operation(detail::verb::size, state_);
  wanted->pinned = buffer(sizeof(struct statx));
  wanted->data = wanted->pinned.data();
  wanted->size = wanted->pinned.size();
  return transfer(wanted);
}

}  // namespace heddle::coop::io
