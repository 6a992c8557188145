#include "thread_engine.hpp"

#include <algorithm>
#include <system_error>

#include "core/signals_blocked.hpp"
#include "engines.hpp"
#include "perform.hpp"

namespace heddle::coop::io::detail {
namespace {

// The engine's state within an operation.
struct carried {
  void* worker;  // that runs it; null while it is queued and once it is over
  long outcome;
};

}  // namespace

thread_engine::thread_engine(unsigned threads) : prompt_threads_(std::max(threads, 1U)) {}

thread_engine::~thread_engine() {
  {
    const std::lock_guard held(lock_);
    closing_ = true;
  }
  work_there_.notify_all();
  for (auto& each : workers_) each->thread.join();
}

void thread_engine::add_worker() {
  const coop::detail::signals_blocked inherited;
  auto added = std::make_unique<worker>();
  workers_.reserve(workers_.size() + 1);
  added->thread = std::thread([this, self = added.get()] { work(*self); });
  workers_.push_back(std::move(added));
}

bool thread_engine::start(operation& wanted) {
  {
    const std::lock_guard held(lock_);
    wanted.engine_data<carried>() = {nullptr, 0};
    queue_.push(wanted);
    ++queued_;
    if (queued_ > idle_ && (!wanted.prompt || workers_.size() - held_ < prompt_threads_)) {
      try {
        add_worker();
      } catch (const std::system_error&) {
        if (workers_.empty()) {
          drop_queued(wanted, -EAGAIN);
        }
        // Otherwise it takes longer.
      }
    }
  }
  work_there_.notify_one();
  return true;
}

void thread_engine::cancel(operation& unwanted) {
  const std::lock_guard held(lock_);
  auto& data = unwanted.engine_data<carried>();
  if (data.worker != nullptr) {
    static_cast<worker*>(data.worker)->cancelled.raise();
  } else {
    drop_queued(unwanted, -ECANCELED);
  }
}

// With the lock held.
void thread_engine::drop_queued(operation& unwanted, long outcome) {
  if (!queue_.remove(unwanted)) return;
  --queued_;
  unwanted.engine_data<carried>().outcome = outcome;
  done_.push(unwanted);
  over_.raise();
}

void thread_engine::collect(completions& to, std::optional<duration> limit) {
  if (limit != duration::zero()) over_.wait(limit);
  deliver(to);
}

void thread_engine::deliver(completions& to) {
  over_.clear();
  operation_queue over;
  {
    const std::lock_guard held(lock_);
    std::swap(over, done_);
  }
  while (!over.empty()) {
    operation& each = over.pop();
    to.complete(each, each.engine_data<carried>().outcome);
  }
}

void thread_engine::work(worker& self) {
  std::unique_lock held(lock_);
  for (;;) {
    ++idle_;
    work_there_.wait(held, [this] { return closing_ || !queue_.empty(); });
    --idle_;
    if (queue_.empty()) return;
    operation& taken = queue_.pop();
    --queued_;
    auto& data = taken.engine_data<carried>();
    data.worker = &self;
    const bool holds = !taken.prompt;
    held_ += holds ? 1U : 0U;
    held.unlock();

    const long outcome = perform(taken, self.cancelled.fd());

    held.lock();
    held_ -= holds ? 1U : 0U;
    self.cancelled.clear();  // a cancellation that came too late is nobody else's
    data = {nullptr, outcome};
    const bool first = done_.empty();
    done_.push(taken);
    if (first) over_.raise();
  }
}

std::unique_ptr<engine> make_thread_engine(const engine_options& options) {
  return std::make_unique<thread_engine>(options.threads);
}

}  // namespace heddle::coop::io::detail
