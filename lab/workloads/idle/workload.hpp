#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/model.hpp"
#include "harness/process_size.hpp"

namespace heddle::lab::idling {

/// `strands` strands that have begun and now wait, all at once; then they are let go, and end.
///
/// There are only as many as the machine has room for: no more are made when only a tenth of its
/// memory, or an eighth of its kernel threads, is left (a machine without either is of no use).
/// Where the kernel refuses a thread before that, the error number is a counter. `alive` says how
/// many there were.
///
/// Metrics: `strand_bytes`, what each strand alive needs while they wait: what the process has
/// grown by in resident memory (`rss_bytes`) and page tables, and the stacks that the kernel has
/// for the process's threads, which are in no process's size; `strand_ns`, its life;
/// `waiting_bytes`, strand_bytes of all together.
///
/// Counters: `alive`; for each of them `page_table_bytes`, `kernel_stack_bytes` and
/// `strand_reserved_bytes`, addresses; `threads_allowed`, on the whole machine; `stopped_by_errno`;
/// `left_to_others`, 1 if no more were made for that reason.
class problem {
 public:
  static constexpr std::string_view name = "idle";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] std::int64_t strands() const { return strands_; }

  /// Whether there is room for strand number `alive`, from 0. Looks from time to time; `threads`:
  /// each is a kernel thread.
  [[nodiscard]] bool room(std::int64_t alive, bool threads = false);
  /// No more can be made.
  void refused(int error) { stopped_by_ = error; }

  /// Before there is any strand, and while all wait.
  void measure_empty() { empty_ = size::now(); }
  void measure_full(std::int64_t alive);
  /// A strand ends. One at a time.
  void ended() { ++ended_; }
  /// So many have ended.
  void ended(std::int64_t strands) { ended_ += strands; }

  [[nodiscard]] verdict check() const;
  void report(const region& timed, results& out, const rerun& again) const;

 private:
  struct size {
    process_size process;
    std::int64_t kernel_stacks;  // of the process's threads
    static size now();
  };

  std::int64_t strands_;
  std::int64_t alive_ = 0;
  std::int64_t ended_early_ = 0;
  std::int64_t ended_ = 0;
  int stopped_by_ = 0;
  bool left_to_others_ = false;
  size empty_{};
  size full_{};
};

}  // namespace heddle::lab::idling
