#pragma once

#include <signal.h>
#include <unistd.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/model.hpp"
#include "heddle/coop/await.hpp"
#include "heddle/coop/io/service.hpp"
#include "heddle/coop/io/signal_set.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/strand.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/task.hpp"
#include "workloads/http/resp.hpp"
#include "workloads/http/session.hpp"
#include "workloads/http/workload.hpp"

namespace heddle::lab::http {

/// One kept connection to the back end: requests of many strands go out together, and answers
/// come in their order.
class back_end_client {
 public:
  /// A strand's question: lives until `answered` was granted.
  struct question {
    coop::semaphore answered{0};
    session::found how = session::found::no_back_end;
    std::string value;
  };

  back_end_client(coop::scheduler& on, coop::io::socket connection)
      : connection_(std::move(connection)) {
    on.spawn(write_all(), "to the back end");
    on.spawn(read_all(), "from the back end");
  }

  /// Begins to ask; then wait for `into.answered`.
  void ask(question& into, std::string_view key);
  /// Ends both of its strands.
  coop::task<> close();

 private:
  coop::task<> write_all();
  coop::task<> read_all();
  void answer(session::found how, std::string_view value);

  coop::io::socket connection_;
  bytes out_{4 * 1024};
  bytes sent_{4 * 1024};      // which write_all() is writing
  coop::semaphore asked_{0};  // something is in out_, or it is over
  std::deque<question*> waiting_;
  bool over_ = false;
};

/// The part of a server that its strands share: all but the strand that serves a connection, which
/// is a fiber in one model and a task in the other.
class serving {
 public:
  /// A connection, as long as its strand lives.
  class connection {
   public:
    connection(serving& in, coop::io::socket accepted);
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// For a server that sweeps: the wait that now begins may take so long. If it takes longer,
    /// late() says so, and the direction of the socket is ended.
    void waits_to_read(coop::duration limit) { waits(limit, coop::io::ending::reading); }
    void waits_to_write(coop::duration limit) { waits(limit, coop::io::ending::both); }
    [[nodiscard]] bool late() const { return late_; }

    /// Where its questions go, all over one connection; null: there is no back end.
    [[nodiscard]] back_end_client* back_end() const { return in_.back_end(number_); }

    session peer;
    coop::io::socket socket;

   private:
    friend serving;
    void waits(coop::duration limit, coop::io::ending ends) {
      deadline_ = coarse_now() + limit;
      ends_ = ends;
    }

    serving& in_;
    std::size_t number_;  // of the server's clients
    coop::time_point deadline_ = coop::time_point::max();
    coop::io::ending ends_ = coop::io::ending::both;
    bool late_ = false;
    connection* next_;
    connection* previous_ = nullptr;
  };

  serving(coop::scheduler& on, const coop::io::service& net, problem& work);

  [[nodiscard]] const limits& allowed() const { return state_.allowed; }
  [[nodiscard]] bool sweeps() const { return work_.sweeps(); }

  /// Accepts connections, `serve(socket)` makes each one's strand, until SIGTERM; then ends those
  /// that are idle.
  template <class Serve>
  void run(Serve serve) {
    on_.spawn([this, serve]() -> coop::task<> { return accept_all(serve); }, "door");
    on_.spawn([this]() -> coop::task<> { return wait_for_stop(); }, "stop");
    if (sweeps())
      sweeper_.emplace(on_.spawn([this]() -> coop::task<> { return sweep(); }, "sweeper"));
    on_.run();
  }

 private:
  [[nodiscard]] back_end_client* back_end(std::size_t client) const {
    return back_ends_.empty() ? nullptr : back_ends_[client % back_ends_.size()].get();
  }
  template <class Serve>
  coop::task<> accept_all(Serve serve) {
    for (int i = 0; work_.back_end() && i < work_.back_ends(); ++i) {
      auto there = co_await net_.connect(work_.back_end()->address());
      back_ends_.push_back(std::make_unique<back_end_client>(on_, std::move(there).value()));
    }
    for (;;) {
      co_await places_.P();
      const auto come = co_await door_.accept();
      if (!come) break;  // closed
      serve(come.reached());
    }
    while (first_ != nullptr) co_await places_.P();
    if (sweeper_) sweeper_->cancel();
    for (const auto& each : back_ends_) co_await each->close();
  }
  coop::task<> wait_for_stop();
  coop::task<> sweep();
  // The time to the kernel's tick, which is exact enough and ten times cheaper than the exact time.
  static coop::time_point coarse_now();

  coop::scheduler& on_;
  const coop::io::service& net_;
  problem& work_;
  server_state& state_;
  coop::io::listener door_;
  coop::io::signal_set stop_;
  coop::semaphore places_;  // for further connections
  std::vector<std::unique_ptr<back_end_client>> back_ends_;
  std::size_t served_ = 0;  // clients so far
  connection* first_ = nullptr;
  std::optional<coop::strand<>> sweeper_;
};

/// The service that the workload asks for. Throws cannot_run where it does not work.
class http_service : public coop::io::service {
 public:
  http_service(coop::scheduler& on, const problem& work) try : service(on, options(work)) {
  } catch (const std::system_error& error) {
    throw cannot_run(error.what());
  }

 private:
  static coop::io::service_options options(const problem& work);
};

}  // namespace heddle::lab::http
