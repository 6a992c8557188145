#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heddle/coop/detail/strands_left.hpp"
#include "heddle/coop/parallel/groups.hpp"

namespace heddle::coop::parallel::detail {

/// The state that groups of one parallel::groups share: their threads, and when their run is over.
///
/// Invariant: while they run, `active_` is the number of groups that are not passive, plus those
/// that a thread is just about to wake. Only what is active can make something active; so where it
/// is 0 it stays 0, and nothing will ever run again.
class team {
 public:
  explicit team(const groups_options& options);
  ~team();

  [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
  [[nodiscard]] group& operator[](std::size_t index) noexcept { return members_[index]->self; }
  [[nodiscard]] bool oversubscribed() const noexcept { return oversubscribed_; }
  [[nodiscard]] std::string dump();
  void run();

  // ---- for a group that rests -------------------------------------------------------------------

  /// Whether the run is over, and groups are to leave it as soon as they have nothing to run.
  [[nodiscard]] bool over() const noexcept { return over_.load(std::memory_order_seq_cst); }
  /// One more is active, by a caller that is so itself.
  void activate() noexcept { active_.fetch_add(1, std::memory_order_relaxed); }
  /// One less. Ends the run if that was the last.
  void deactivate() noexcept;
  /// Stores the number of the group's strands for deactivate(); called before the group becomes
  /// passive.
  void note_alive(group& which) noexcept;

 private:
  enum class command : std::uint8_t { none, run, destroy_strands, quit };

  struct member {
    group self;
    std::atomic<std::size_t> alive{0};  // strands, as of when it was last passive
    command asked = command::none;      // under mutex_; none once it is done
    std::exception_ptr failed;
    std::thread thread;

    template <class... Arguments>
    explicit member(Arguments&&... arguments) : self(std::forward<Arguments>(arguments)...) {}
  };

  void start(member& which, const scheduler_options& options);
  void serve(member& which, scheduler_options options);
  void ask(member& which, command what);
  void wait_for(const member& which);
  void run_group(member& which) noexcept;
  void end_run() noexcept;
  void destroy_strands() noexcept;
  void quit() noexcept;
  [[nodiscard]] std::size_t alive() noexcept;

  // Written by many; on a line of its own.
  alignas(line_bytes) std::atomic<std::size_t> active_{0};
  alignas(line_bytes) std::atomic<bool> over_{true};

  const bool outside_posts_;
  bool oversubscribed_ = false;
  std::mutex mutex_;                   // of commands
  std::condition_variable commanded_;  // or done
  std::vector<std::unique_ptr<member>> members_;
  // Notes that a run of the thread that has made the groups has left strands.
  coop::detail::strands_left left_{
      [](void* self) noexcept { static_cast<team*>(self)->destroy_strands(); }, this};
};

}  // namespace heddle::coop::parallel::detail
