#pragma once

#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace heddle::coop::io {

namespace detail {
[[noreturn]] void throw_error(int error, const std::string& where);

/// Equal to std::error_code() where there is no error: that compares categories, too.
[[nodiscard]] inline std::error_code code_of(int error) noexcept {
  return error == 0 ? std::error_code() : std::error_code(error, std::generic_category());
}
}  // namespace detail

/// The result of an operation: a T, or the kernel's error.
///
///     auto opened = await(files.open("data", O_RDONLY));
///     if (opened.error() == std::errc::no_such_file_or_directory) …
///     file data = opened.value();                    // throws if there is an error
template <class T>
class [[nodiscard("an error would pass unseen")]] result {
 public:
  explicit result(T value) : value_(std::move(value)) {}
  /// An error: `code` is an errno, `where` says what failed ("a read of data"), `value` is what
  /// was reached before.
  result(int code, std::string where, T value = {})
      : value_(std::move(value)),
        error_(code),
        where_(std::make_unique<const std::string>(std::move(where))) {}

  [[nodiscard]] explicit operator bool() const noexcept { return error_ == 0; }
  [[nodiscard]] std::error_code error() const noexcept { return detail::code_of(error_); }
  /// Throws std::system_error, which says what failed on which file, if there is an error.
  T value()&& {
    check();
    return std::move(value_);
  }
  const T& value() const& {
    check();
    return value_;
  }
  /// What the operation reached: its value if there is no error, and beside an error the part of it
  /// that was done before: the bytes that were moved. Never throws.
  const T& reached() const noexcept { return value_; }

 private:
  void check() const {
    if (error_ != 0) detail::throw_error(error_, *where_);
  }

  T value_;
  int error_ = 0;
  std::unique_ptr<const std::string> where_;  // set where there is an error: they are rare
};

/// Done, or the kernel's error.
template <>
class [[nodiscard("an error would pass unseen")]] result<void> {
 public:
  result() = default;
  result(int code, std::string where)
      : error_(code), where_(std::make_unique<const std::string>(std::move(where))) {}

  [[nodiscard]] explicit operator bool() const noexcept { return error_ == 0; }
  [[nodiscard]] std::error_code error() const noexcept { return detail::code_of(error_); }
  void value() const {
    if (error_ != 0) detail::throw_error(error_, *where_);
  }

 private:
  int error_ = 0;
  std::unique_ptr<const std::string> where_;  // set where there is an error: they are rare
};

}  // namespace heddle::coop::io
