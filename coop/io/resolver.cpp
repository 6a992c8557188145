#include "resolver.hpp"

#include <netdb.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/signals_blocked.hpp"
#include "polled.hpp"

namespace heddle::coop::io::detail {
namespace {

struct lookup {
  std::uint64_t number;
  operation* wanted;
  std::string host;
  std::uint16_t port;
  std::vector<endpoint> found = {};
  int error = 0;            // an errno
  const char* reason = "";  // with it
};

// The errors of getaddrinfo(3) as those of system calls.
int as_errno(int failure) noexcept {
  switch (failure) {
    case EAI_SYSTEM:
      return errno;
    case EAI_AGAIN:
      return EAGAIN;
    case EAI_MEMORY:
      return ENOMEM;
    default:
      return ENXIO;  // "No such device or address": there is no such name
  }
}

void look_up(lookup& wanted) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* all = nullptr;
  const int failure =
      getaddrinfo(wanted.host.c_str(), std::to_string(wanted.port).c_str(), &hints, &all);
  if (failure != 0) {
    wanted.error = as_errno(failure);
    wanted.reason = gai_strerror(failure);
    return;
  }
  for (const addrinfo* each = all; each != nullptr; each = each->ai_next) {
    wanted.found.emplace_back(each->ai_addr, each->ai_addrlen);
  }
  freeaddrinfo(all);
}

}  // namespace

struct resolver::shared {
  static constexpr std::size_t most_threads = 8;

  std::mutex lock;  // of all below
  std::deque<lookup> queue;
  std::deque<lookup> over;
  struct running_lookup {
    std::uint64_t number;  // another operation may have the address by the time it is over
    operation* wanted;
  };
  std::vector<running_lookup> running;
  std::uint64_t started = 0;
  engine* to_wake = nullptr;  // null: the resolver is gone
  std::size_t threads = 0;

  // On a thread of its own.
  void work() {
    std::unique_lock held(lock);
    while (!queue.empty()) {
      lookup taken = std::move(queue.front());
      queue.pop_front();
      running.push_back({taken.number, taken.wanted});
      held.unlock();
      look_up(taken);
      held.lock();
      const auto still =
          std::find_if(running.begin(), running.end(),
                       [&](const running_lookup& each) { return each.number == taken.number; });
      if (still == running.end()) continue;  // nobody waits for it any more
      running.erase(still);
      over.push_back(std::move(taken));
      if (to_wake != nullptr) to_wake->interrupt();
    }
    --threads;
  }
};

resolver::resolver() noexcept = default;

resolver::~resolver() {
  if (shared_ == nullptr) return;
  const std::lock_guard held(shared_->lock);
  shared_->to_wake = nullptr;
  shared_->queue.clear();
  shared_->running.clear();
}

bool resolver::start(operation& wanted, engine& to_wake) noexcept try {
  if (shared_ == nullptr) shared_ = std::make_shared<shared>();
  const std::lock_guard held(shared_->lock);
  shared_->to_wake = &to_wake;
  shared_->queue.push_back(
      {++shared_->started, &wanted, wanted.connect->host, wanted.connect->port});
  if (shared_->threads == shared::most_threads) return true;
  try {
    const coop::detail::signals_blocked inherited;
    std::thread([mine = shared_] { mine->work(); }).detach();
    ++shared_->threads;
  } catch (const std::system_error&) {
    if (shared_->threads != 0) return true;  // it takes longer
    shared_->queue.pop_back();
    return false;
  }
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

bool resolver::cancel(operation& unwanted) noexcept {
  if (shared_ == nullptr) return false;
  const std::lock_guard held(shared_->lock);
  const auto is_it = [&](const auto& each) { return each.wanted == &unwanted; };
  return std::erase_if(shared_->queue, is_it) + std::erase_if(shared_->over, is_it) +
             std::erase_if(shared_->running, is_it) !=
         0;
}

operation* resolver::next_over() noexcept {
  if (shared_ == nullptr) return nullptr;
  const std::lock_guard held(shared_->lock);
  if (shared_->over.empty()) return nullptr;
  lookup done = std::move(shared_->over.front());
  shared_->over.pop_front();
  operation& wanted = *done.wanted;
  wanted.connect->addresses = std::move(done.found);
  wanted.error = done.error;
  if (done.error != 0) wanted.file->name.append(" (").append(done.reason) += ')';
  return &wanted;
}

}  // namespace heddle::coop::io::detail
