#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/digest.hpp"
#include "harness/model.hpp"
#include "workloads/file/records.hpp"

namespace heddle::lab::file {

enum class kind : std::uint8_t { read, write, search };

struct operation {
  kind what;
  record target;  ///< of a write: with the version to write
};

/// The results of a strand's operations.
struct outcome {
  std::uint64_t failed = 0;  ///< operations that found no valid record, or not the wanted one
  digest own;                ///< of the versions read of its own records, in order
};

/// "Generates random read, write, and search operations" (3.2.3) on one shared fstream, or beside
/// it: stream/, positioned/ and io_uring/ are programs of their own.
///
/// The file has `records` lines of 80 bytes. With cache=cold it is on the device alone when a run
/// begins, so that the first to use a page waits for it; counter `device_read_bytes`. A search
/// begins at the file's start, or with `span` at the last line whose number is a multiple of it.
///
/// Operation k belongs to strand k mod threads ("equally divided among threads"). So that the
/// result is known whatever the interleaving, a strand writes only records of its own (id mod
/// threads) and reads and looks for anybody's. Then the final file is that of a sequential run,
/// what a strand reads of its own records is what it wrote there, every other read is a whole
/// record, and every search finds its record at its place.
class problem {
 public:
  static constexpr std::string_view name = "file";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] int threads() const { return static_cast<int>(outcomes_.size()); }
  [[nodiscard]] bool plain_mutex() const { return plain_mutex_; }
  [[nodiscard]] const std::vector<operation>& operations() const { return operations_; }
  [[nodiscard]] int strand_of(std::size_t operation_number) const {
    return static_cast<int>(operation_number % outcomes_.size());
  }
  [[nodiscard]] outcome& outcome_of(int strand) {
    return outcomes_[static_cast<std::size_t>(strand)];
  }

  /// Where a search for that record begins.
  [[nodiscard]] int search_from(int id) const { return span_ == 0 ? 0 : id - id % span_; }

  /// Does one operation on the stream. Not to be called by two at once.
  void perform(const operation& wanted, int strand, outcome& seen) {
    perform_on(data, wanted, strand, seen);
  }
  /// Does one operation on `file`, which has read(), write() and search() as record_file has them.
  template <class File>
  void perform_on(File& file, const operation& wanted, int strand, outcome& seen) {
    record found;
    bool done = false;
    switch (wanted.what) {
      case kind::read:
        done = file.read(wanted.target.id, found);
        break;
      case kind::write:
        done = file.write(wanted.target);
        break;
      case kind::search:
        done = file.search(wanted.target.id, search_from(wanted.target.id)) == wanted.target.id;
        break;
    }
    saw(wanted, done, found, strand, seen);
  }
  /// Notes how an operation went; `found` is what a read has read.
  void saw(const operation& wanted, bool done, const record& found, int strand,
           outcome& seen) const;

  /// Calls `perform(operation)` for each operation of `strand`, in order.
  template <class Perform>
  void for_each_of(int strand, const Perform& perform) const {
    const auto step = static_cast<std::size_t>(threads());
    for (auto k = static_cast<std::size_t>(strand); k < operations_.size(); k += step) {
      perform(operations_[k]);
    }
  }

  [[nodiscard]] verdict check();
  /// The result is a digest of the final file and of what the strands read of their own records.
  void report(const region& timed, results& out, const rerun& again) const;

  record_file data;

 private:
  std::vector<operation> operations_;
  std::vector<outcome> outcomes_;
  int span_;
  bool plain_mutex_;
  std::uint64_t read_before_ = 0;   // from the device, bytes
  std::uint64_t device_bytes_ = 0;  // of the run
  std::string result_;              // check() has read the final file
};

}  // namespace heddle::lab::file
