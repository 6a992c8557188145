#include "workloads/http/serving.hpp"

#include <chrono>
#include <ctime>
#include <utility>

#include "heddle/coop/yield.hpp"

namespace heddle::lab::http {

using namespace coop;

void back_end_client::ask(question& into, std::string_view key) {
  if (over_) {
    into.answered.V();
    return;
  }
  const bool first = out_.empty();
  write_get(out_, key);
  waiting_.push_back(&into);
  if (first) asked_.V();
}

task<> back_end_client::write_all() {
  for (;;) {
    co_await asked_.P();
    if (over_) co_return;
    std::swap(out_, sent_);  // further questions come while these are written
    const auto written = co_await connection_.write_all(sent_.filled());
    sent_.clear();
    if (!written) {
      static_cast<void>(connection_.shutdown(io::ending::both));  // which read_all() sees
      co_return;
    }
  }
}

task<> back_end_client::read_all() {
  bytes in(16 * 1024);
  for (;;) {
    const auto read = co_await connection_.read(in.room());
    if (!read || read.reached() == 0) break;
    in.added(read.reached());
    reply next;
    reply_state state;
    while ((state = read_reply(in.text(), next)) == reply_state::whole && !waiting_.empty()) {
      answer(next.found ? session::found::value : session::found::nothing, next.value);
      in.take(next.bytes);
    }
    if (state != reply_state::incomplete) break;
  }
  over_ = true;
  asked_.V();
  while (!waiting_.empty()) answer(session::found::no_back_end, {});
}

void back_end_client::answer(session::found how, std::string_view value) {
  question& asked = *waiting_.front();
  waiting_.pop_front();
  asked.how = how;
  asked.value = value;
  asked.answered.V();
}

task<> back_end_client::close() {
  over_ = true;
  asked_.V();
  static_cast<void>(co_await connection_.close());
}

time_point coarse_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return time_point(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

serving::connection::connection(serving& in, io::socket accepted)
    : peer(in.state_),
      socket(std::move(accepted)),
      in_(in),
      number_(in.served_++),
      next_(in.first_) {
  if (next_ != nullptr) next_->previous_ = this;
  in.first_ = this;
}

serving::connection::~connection() {
  (previous_ != nullptr ? previous_->next_ : in_.first_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  if (in_.ending_ && in_.first_ == nullptr) in_.alone_.V();
  in_.left_();
}

serving::serving(scheduler& on, const io::service& net, problem& work, int back_ends,
                 std::function<void()> left)
    : on_(on),
      net_(net),
      work_(work),
      state_(work.server()),
      back_ends_wanted_(static_cast<std::size_t>(back_ends)),
      left_(std::move(left)) {}

task<> serving::begin() {
  while (back_ends_.size() < back_ends_wanted_) {
    auto there = co_await net_.connect(work_.back_end()->address());
    back_ends_.push_back(std::make_unique<back_end_client>(on_, std::move(there).value()));
  }
  if (sweeps()) {
    sweeper_.emplace(on_.spawn([this]() -> task<> { return sweep(); }, "sweeper"));
  }
}

task<> serving::end() {
  ending_ = true;
  for (connection* each = first_; each != nullptr; each = each->next_) {
    if (each->peer.idle()) static_cast<void>(each->socket.shutdown(io::ending::reading));
  }
  while (first_ != nullptr) co_await alone_.P();
  if (sweeper_) sweeper_->cancel();
  for (const auto& each : back_ends_) co_await each->close();
}

task<> serving::sweep() {
  for (;;) {
    co_await sleep_for(allowed().sweep_interval());
    const time_point now = coarse_now();
    for (connection* each = first_; each != nullptr; each = each->next_) {
      if (each->deadline_ > now) continue;
      each->late_ = true;
      each->deadline_ = time_point::max();
      static_cast<void>(each->socket.shutdown(each->ends_));
    }
  }
}

io::service_options http_service::options(const problem& work) {
  const bool uring = work.sockets() == "io_uring";
  return {.only = uring ? io::mechanism::io_uring : io::mechanism::threads,
          .depth = 4096,
          .sockets = uring ? io::socket_mechanism::io_uring : io::socket_mechanism::epoll};
}

}  // namespace heddle::lab::http
