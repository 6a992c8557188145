#pragma once

#include <cstddef>
#include <exception>
#include <limits>
#include <utility>

#include "heddle/coop/detail/link_envelope.hpp"
#include "heddle/coop/detail/strand_block.hpp"

namespace heddle::coop::detail {

/// A message that is being handled, by a strand of its own. Its place in the list moves with it.
struct link_job {
  link_side* side;
  link_envelope* call;  // to be replied to; null: one-way, or the link was closed meanwhile
  strand_block* strand = nullptr;
  link_job* next = nullptr;
  link_job* previous = nullptr;

  link_job(link_side& its_side, link_envelope* its_call) noexcept;
  link_job(link_job&& other) noexcept;
  link_job& operator=(link_job&&) = delete;
  /// If it has not ended: its strand was destroyed.
  ~link_job();
  /// The handler is over. To be called once the reply is in the envelope.
  void end(const std::exception_ptr& error) noexcept;

 private:
  inline void leave(link_side& from) noexcept;
};

/// The messages that have come to a side: those that wait for a handler, and those that are being
/// handled.
class link_jobs {
 public:
  /// Whether no message is being handled.
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  /// The messages that no strand handles yet.
  [[nodiscard]] envelope_list& arrived() noexcept { return arrived_; }
  [[nodiscard]] const envelope_list& arrived() const noexcept { return arrived_; }

  [[nodiscard]] bool has_handler() const noexcept { return has_handler_; }
  /// Returns what it was.
  bool set_has_handler(bool has) noexcept { return std::exchange(has_handler_, has); }
  /// A handler is there, for at most so many messages at once.
  void serve(std::size_t most) noexcept {
    has_handler_ = true;
    most_ = most;
  }
  /// The next message that a strand is to handle, which counts as running from now on until
  /// count_ended(); null if none has come, or as many run as may.
  [[nodiscard]] link_envelope* start_next() noexcept {
    if (!has_handler_ || running_ >= most_ || arrived_.empty()) return nullptr;
    ++running_;
    return &arrived_.pop();
  }
  void count_ended() noexcept { --running_; }

  /// The strand of the job that was made last. Counted until that has ended: a strand to which a
  /// handle refers cannot move, and a job's end belongs to this scheduler.
  void note_strand(strand_block& strand) noexcept {
    ++strand.references;
    first_->strand = &strand;
  }
  /// Cancels the strands of all.
  void cancel() noexcept;
  /// Their callers are told that the link is closed.
  void close_calls() noexcept;

 private:
  friend link_job;

  link_job* first_ = nullptr;
  envelope_list arrived_;
  std::size_t running_ = 0;
  std::size_t most_ = std::numeric_limits<std::size_t>::max();
  bool has_handler_ = false;
};

}  // namespace heddle::coop::detail
