#include "heddle/coop/offload.hpp"

#include <pthread.h>
#include <sched.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "core/signals_blocked.hpp"
#include "heddle/coop/detail/strands_left.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"
#include "heddle/coop/in_scope.hpp"

namespace heddle::coop {

using detail::offload_job;
using stage = offload_job::stage;

namespace {

constexpr unsigned threads_of_process = 64;

// A pool may be made by a thread that is pinned to a processor, as those of groups are.
const cpu_set_t processors_at_start = [] {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return set;
}();

const std::string no_name;

}  // namespace

struct thread_pool::state {
  const unsigned most;
  mutable std::mutex lock;  // of all below
  std::condition_variable work_there;
  std::condition_variable is_over;  // a call whose wait is being destroyed
  offload_job* first = nullptr;
  offload_job* last = nullptr;
  std::size_t queued = 0;
  std::size_t idle = 0;
  bool closing = false;
  std::vector<std::thread> threads;

  explicit state(unsigned most_threads) : most(most_threads) {}

  void add(offload_job& job) {
    {
      const std::lock_guard held(lock);
      if (queued >= idle && threads.size() < most) add_thread();
      job.following = nullptr;
      (first != nullptr ? last->following : first) = &job;
      last = &job;
      ++queued;
    }
    work_there.notify_one();
  }

  void add_thread() {
    try {
      const detail::signals_blocked inherited;
      threads.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (threads.empty()) throw;  // otherwise it takes longer
    }
  }

  /// Whether it had not begun; it never does.
  bool remove(offload_job& job) noexcept {
    const std::lock_guard held(lock);
    if (job.reached != stage::queued) return false;
    offload_job* before = nullptr;
    for (offload_job* each = first; each != &job; each = each->following) before = each;
    (before != nullptr ? before->following : first) = job.following;
    if (last == &job) last = before;
    --queued;
    return true;
  }

  /// Blocks until it is over. Returns whether a message says so, which was posted by then.
  bool run_to_the_end(offload_job& job) noexcept {
    std::unique_lock held(lock);
    if (job.reached == stage::over) return true;
    job.is_waited_for = true;
    is_over.wait(held, [&] { return job.reached == stage::over; });
    return false;
  }

  void work() noexcept {
    pthread_setname_np(pthread_self(), "offload");
    sched_setaffinity(0, sizeof processors_at_start, &processors_at_start);
    std::unique_lock held(lock);
    for (;;) {
      ++idle;
      work_there.wait(held, [this] { return closing || first != nullptr; });
      --idle;
      if (first == nullptr) return;
      offload_job& job = *first;
      first = job.following;
      --queued;
      job.reached = stage::runs;
      held.unlock();
      detail::offloaded_by = job.number;
      job.error = detail::caught(job.call, &job);
      detail::offloaded_by = 0;
      held.lock();
      job.reached = stage::over;
      if (job.is_waited_for) {
        is_over.notify_all();
      } else {
        // Under the lock, so that a wait that is destroyed knows where the message is. It is the
        // last that is done to the job.
        scheduler_access::post(*job.owner, job);
      }
    }
  }
};

thread_pool::thread_pool(unsigned most_threads) {
  if (most_threads == 0) throw std::invalid_argument("a thread_pool of no threads runs nothing");
  state_ = std::make_unique<state>(most_threads);
}

thread_pool::~thread_pool() {
  detail::end_strands_left();
  {
    const std::lock_guard held(state_->lock);
    state_->closing = true;
  }
  state_->work_there.notify_all();
  for (std::thread& each : state_->threads) each.join();
}

thread_pool& thread_pool::of_process() {
  // Never destroyed: a call may still block when the process ends.
  static thread_pool& pool = *new thread_pool(threads_of_process);
  return pool;
}

unsigned thread_pool::threads() const {
  const std::lock_guard held(state_->lock);
  return static_cast<unsigned>(state_->threads.size());
}

namespace detail {

void offload_job::deliver_it(message& self, scheduler*) noexcept {
  auto& job = static_cast<offload_job&>(self);
  if (job.wait != nullptr) job.wait->arrived();
}

offload_wait::offload_wait(thread_pool& pool, offload_job& job) noexcept
    : wait_list("offloaded call", no_name, &on_given_up), pool_(pool), job_(job) {}

offload_wait::~offload_wait() {
  if (!is_under_way_ || withdraw()) return;
  run_to_the_end();
}

void offload_wait::park(strand_block& self) {
  job_.wait = this;
  job_.owner = self.owner;
  job_.number = scheduler_access::id(self);
  pool_.state_->add(job_);
  is_under_way_ = true;
  scheduler_access::expect_post(*self.owner);
  wait_in(self, node_, *this);
}

// Takes the call back if it has not begun.
bool offload_wait::withdraw() noexcept {
  if (!pool_.state_->remove(job_)) return false;
  is_under_way_ = false;
  scheduler_access::expected_post_came(*job_.owner);
  return true;
}

// The strand is being destroyed; what its call uses, and the message, have to last.
void offload_wait::run_to_the_end() noexcept {
  if (pool_.state_->run_to_the_end(job_)) {
    while (is_under_way_) scheduler_access::deliver_posts(*job_.owner);
  } else {
    scheduler_access::expected_post_came(*job_.owner);
  }
}

// Cancelled, or out of time: the node is in no list now.
bool offload_wait::on_given_up(wait_list& list, wait_node& node) {
  auto& self = static_cast<offload_wait&>(list);
  if (!self.is_under_way_ || self.withdraw()) return false;
  wait_in(*node.who, node, list);
  return true;
}

void offload_wait::arrived() noexcept {
  is_under_way_ = false;
  scheduler_access::expected_post_came(*job_.owner);
  if (empty()) return;  // the strand is being destroyed
  count_as_granted(*node_.who);
  scheduler_access::wake(node_);
}

}  // namespace detail
}  // namespace heddle::coop
