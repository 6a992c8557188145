#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/model.hpp"
#include "workloads/kv/store.hpp"

namespace heddle::lab::kv {

enum class kind : std::uint8_t { get, range, set, remove };

/// One operation, drawn by the generator before the clock starts.
struct operation {
  kind what;
  int key;
  std::uint64_t version;  ///< of a set: unique, so that a lost or doubled one shows
};

/// What a strand saw.
struct outcome {
  std::uint64_t own = 0;      ///< digest of what it read of its own keys, in order
  std::uint64_t invalid = 0;  ///< values whose seal does not fit
};

/// An in-memory key-value store under a generated load with a chosen share of writes, the
/// operations divided equally among the strands (10 in the source).
///
/// So that the result is known whatever the interleaving, a strand writes only keys of its own
/// (key mod strands) and reads anybody's. Then
/// - every key's history is its owner's program order: the final contents are those of a sequential
///   run, exactly;
/// - what a strand reads of its own keys is what it last wrote there, exactly;
/// - what it reads of others' keys is some version that was written: its seal fits.
/// Without the lock the threads' store loses or doubles nodes, or breaks.
class problem {
 public:
  static constexpr std::string_view name = "kv";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] int strands() const { return static_cast<int>(operations_.size()); }
  [[nodiscard]] const std::vector<operation>& operations_of(int strand) const {
    return operations_[static_cast<std::size_t>(strand)];
  }
  [[nodiscard]] outcome& outcome_of(int strand) {
    return outcomes_[static_cast<std::size_t>(strand)];
  }

  /// Does one operation on the shared store, for `strand`. Not to be called by two at once.
  void perform(const operation& wanted, int strand, outcome& seen) {
    perform(data, wanted, strand, strands(), seen);
  }

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

  store data;

 private:
  static void perform(store& data, const operation& wanted, int strand, int strands, outcome& seen);

  int keys_;
  std::vector<std::vector<operation>> operations_;
  std::vector<outcome> outcomes_;
};

}  // namespace heddle::lab::kv
