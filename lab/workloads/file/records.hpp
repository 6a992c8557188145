#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

namespace heddle::lab::file {

/// "Simple text is written and read from the file" (3.2.3): lines of one length,
/// `record 000042 version 0000000007 check 1a2b3c4d5e6f7081 …dots… \n`, that prove their own
/// contents.
struct record {
  static constexpr std::size_t bytes = 80;  ///< newline included

  int id = 0;
  std::uint64_t version = 0;

  [[nodiscard]] std::string line() const;
  /// False if the text is not a whole record as line() makes it.
  [[nodiscard]] static bool parse(const std::string& line, record& out);
  /// The beginning of a record's line, from its first byte to the blank behind its id.
  [[nodiscard]] static std::string beginning(int id);
  /// Where it is in the file, in bytes.
  [[nodiscard]] static std::int64_t offset(int id) {
    return static_cast<std::int64_t>(id) * static_cast<std::int64_t>(bytes);
  }
};

/// Bytes that a search without a stream reads at a time: whole records, and nearly as many bytes as
/// a stream's buffer has.
constexpr std::size_t search_bytes = 100 * record::bytes;

/// The number of the first line in `text` that begins with `wanted`, or -1. Looks at each line.
[[nodiscard]] int find_line(std::string_view text, std::string_view wanted);

/// A file of records `0 … count - 1`, opened as one std::fstream for everybody ("Only 1 fstream is
/// used").
///
/// It has one position, so one operation at a time. Its name is removed as soon as it is open: the
/// file is gone when the process is, however that ends.
class record_file {
 public:
  /// In $TMPDIR, or /tmp. Throws std::runtime_error, saying where.
  explicit record_file(int count);

  /// Has the kernel forget what it keeps of the file in memory, so that reads come from the device.
  /// Throws cannot_run where the file has no device: set TMPDIR.
  void forget_cached();

  ~record_file();
  record_file(const record_file&) = delete;
  record_file& operator=(const record_file&) = delete;

  /// False if what is there is no record with that id.
  [[nodiscard]] bool read(int id, record& out);
  [[nodiscard]] bool write(const record& wanted);
  /// Reads the file from its line number `from`, line by line, until a line begins with the text
  /// `record <id> `; the line's number, or -1.
  [[nodiscard]] int search(int id, int from = 0);
  /// Calls `seen(id, line)` for each record's place, in order, with what is there.
  void for_each_line(const std::function<void(int, std::string_view)>& seen);

  [[nodiscard]] int count() const { return count_; }
  /// A descriptor of the same file, for models without a stream.
  [[nodiscard]] int fd() const { return fd_; }

 private:
  [[nodiscard]] bool write_all() const;

  int count_;
  int fd_;
  std::fstream stream_;
};

}  // namespace heddle::lab::file
