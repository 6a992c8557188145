#include "heddle/coop/watchdog.hpp"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "core/signals_blocked.hpp"
#include "core/watch.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop {

namespace detail {

void watch::takes_turn(std::uint64_t strand, std::string_view name) noexcept {
  strand_.store(strand, std::memory_order_release);
  const std::size_t bytes = std::min(name.size(), 8 * name_.size() - 1);
  for (std::size_t i = 0; i < name_.size(); ++i) {
    std::uint64_t word = 0;
    if (bytes > 8 * i)
      std::memcpy(&word, name.data() + 8 * i, std::min<std::size_t>(bytes - 8 * i, 8));
    name_[i].store(word, std::memory_order_release);
    if (bytes < 8 * i + 8) break;  // the word has the zero byte
  }
  turn_.store(turn_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

std::optional<watch::turn> watch::look() const {
  const std::uint64_t before = turn_.load(std::memory_order_acquire);
  if (before % 2 != 0) return std::nullopt;
  char text[8 * 6] = {};
  static_assert(sizeof text == sizeof name_);
  const std::uint64_t strand = strand_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < name_.size(); ++i) {
    const std::uint64_t word = name_[i].load(std::memory_order_acquire);
    std::memcpy(text + 8 * i, &word, 8);
  }
  if (turn_.load(std::memory_order_relaxed) != before) return std::nullopt;
  return turn{before, strand, std::string(text, strnlen(text, sizeof text))};
}

}  // namespace detail

namespace {

void print(const held_up& what) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(what.so_far).count();
  const std::string name = what.name.empty() ? "" : " \"" + what.name + '"';
  std::fprintf(stderr,
               "warning: heddle: strand %llu%s has not given way for %lld ms, and holds up the "
               "others of its scheduler: have it co_await yield() now and then, and offload() what "
               "blocks\n",
               static_cast<unsigned long long>(what.strand), name.c_str(),
               static_cast<long long>(ms));
}

}  // namespace

struct watchdog::state {
  scheduler& watched;
  const duration limit;
  const reporter report;
  detail::watch turns;
  std::mutex lock;  // of all below
  std::condition_variable ended;
  bool ends = false;
  std::thread thread;

  state(scheduler& its, duration its_limit, reporter its_report)
      : watched(its), limit(its_limit), report(std::move(its_report)) {}

  void look_out() {
    using clock = std::chrono::steady_clock;
    const duration step = std::max<duration>(limit / 8, std::chrono::microseconds(100));
    std::uint64_t seen = turns.number();
    auto since = clock::now();
    bool is_told = false;
    std::unique_lock held(lock);
    while (!ended.wait_for(held, step, [this] { return ends; })) {
      const auto now = clock::now();
      if (const std::uint64_t number = turns.number(); number != seen) {
        seen = number;
        since = now;
        is_told = false;
      } else if (!is_told && now - since >= limit) {
        const auto turn = turns.look();
        if (!turn || turn->number != seen) continue;
        is_told = true;
        report(held_up{turn->strand, turn->name, now - since});
      }
    }
  }
};

watchdog::watchdog(scheduler& watched, detail::length limit, reporter report) {
  scheduler_access::require_own_thread(watched, "watches");
  if (duration(limit) <= duration::zero()) {
    throw std::invalid_argument("a watchdog's limit must be longer than nothing");
  }
  state_ = std::make_unique<state>(watched, limit, report ? std::move(report) : reporter(&print));
  if (detail::watch* const other = scheduler_access::set_watch(watched, &state_->turns)) {
    scheduler_access::set_watch(watched, other);
    throw std::logic_error("this scheduler has a watchdog already");
  }
  if (const detail::strand_block* const self = detail::current_strand;
      self != nullptr && self->owner == &watched) {
    state_->turns.takes_turn(scheduler_access::id(*self), self->name());
  }
  try {
    const detail::signals_blocked inherited;
    state_->thread = std::thread([own = state_.get()] {
      pthread_setname_np(pthread_self(), "watchdog");
      own->look_out();
    });
  } catch (...) {
    scheduler_access::set_watch(watched, nullptr);
    throw;
  }
}

watchdog::~watchdog() {
  scheduler_access::set_watch(state_->watched, nullptr);
  {
    const std::lock_guard held(state_->lock);
    state_->ends = true;
  }
  state_->ended.notify_all();
  state_->thread.join();
}

}  // namespace heddle::coop
