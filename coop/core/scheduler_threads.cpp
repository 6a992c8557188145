// What other threads do with a scheduler, and what they may not.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/scheduler.hpp"

namespace heddle::coop {

namespace {

/// `thread 4711 "worker"`, of a thread of this process.
std::string thread_text(pid_t number) {
  std::string text = "thread " + std::to_string(number);
  char name[17] = {};
  if (FILE* const comm =
          std::fopen(("/proc/self/task/" + std::to_string(number) + "/comm").c_str(), "re")) {
    if (std::fscanf(comm, "%16[^\n]", name) == 1) text.append(" \"").append(name) += '"';
    std::fclose(comm);
  }
  return text;
}

struct stop_message final : message {
  std::uint64_t number;

  explicit stop_message(std::uint64_t its_number) noexcept
      : message(&deliver_it), number(its_number) {}
  static void deliver_it(message& self, scheduler* to) noexcept {
    const std::unique_ptr<stop_message> mine(static_cast<stop_message*>(&self));
    if (to == nullptr) return;
    if (auto* const strand = scheduler_access::find(*to, mine->number)) {
      scheduler_access::cancel(*strand);
    }
  }
};

}  // namespace

struct detail::stop_line {
  std::mutex lock;
  scheduler* to;  // null once it is gone
};

detail::stop_line_end::~stop_line_end() = default;

detail::own_thread::own_thread() noexcept : self_(pthread_self()), number_(gettid()) {}

bool scheduler::on_own_thread() const noexcept { return thread_.runs(); }

void scheduler::require_own_thread(const char* does) const noexcept {
  if (on_own_thread()) return;
  // While groups do not run, the thread that made them sets them up.
  if (group_ != nullptr && !in_run_.load(std::memory_order_relaxed)) return;
  const std::string text =
      thread_text(gettid()) + ' ' + does + " a scheduler" +
      (group_ != nullptr ? ", that of group " + std::to_string(group_->index()) : "") +
      ", which belongs to " + thread_text(thread_.number()) +
      ": other threads may use scheduler::post(), a stop_handle and the types of parallel/ alone";
  detail::fatal(text.c_str());
}

void scheduler::post(message& posted) noexcept {
  if (group_ != nullptr) {
    group_->post(posted);
  } else {
    door_.post(posted);
  }
}

bool scheduler::deliver_posts() noexcept {
  return group_ != nullptr ? group_->deliver() : door_.deliver(this);
}

// By a thread of another scheduler, for example, that a strand of this one made.
void scheduler::close_door() noexcept {
  if (detail::stop_line* const line = stop_line_.line.get()) {
    const std::lock_guard held(line->lock);
    line->to = nullptr;
  }
}

stop_handle scheduler::stopper_of(const detail::strand_block& strand) {
  if (!stop_line_.line) stop_line_.line.reset(new detail::stop_line{{}, this});
  return {stop_line_.line, all_.id(strand)};
}

stop_handle detail::stopper_of(const strand_block& strand) {
  if (strand.status == strand_status::finished) return {};
  if (strand.owner != current_scheduler) [[unlikely]] {
    require_same_group(strand, "asks for the stop handle of");
    scheduler_access::require_own_thread(*strand.owner, "asks for the stop handle of a strand of");
  }
  return scheduler_access::stopper_of(strand);
}

void stop_handle::request_stop() const {
  if (!line_) return;
  const std::lock_guard held(line_->lock);
  if (line_->to != nullptr) scheduler_access::post(*line_->to, *new stop_message(number_));
}

}  // namespace heddle::coop
