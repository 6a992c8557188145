#pragma once

#include <signal.h>
#include <unistd.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/model.hpp"
#include "harness/processes.hpp"
#include "heddle/coop/await.hpp"
#include "heddle/coop/ext/sanitizer.hpp"
#include "heddle/coop/io/service.hpp"
#include "heddle/coop/io/signal_set.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/strand.hpp"
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
    counted_semaphore answered{0};
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
  bytes sent_{4 * 1024};        // which write_all() is writing
  counted_semaphore asked_{0};  // something is in out_, or it is over
  std::deque<question*> waiting_;
  bool over_ = false;
};

/// The time to the kernel's tick, which is exact enough for a sweep and ten times cheaper than the
/// exact time.
[[nodiscard]] coop::time_point coarse_now();

/// The part of a server that the strands of one scheduler share: all but the strand that serves a
/// connection, which is a fiber in one model and a task in the other.
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
    std::size_t number_;  // of the scheduler's clients
    coop::time_point deadline_ = coop::time_point::max();
    coop::io::ending ends_ = coop::io::ending::both;
    bool late_ = false;
    connection* next_;
    connection* previous_ = nullptr;
  };

  /// With so many connections to the back end. `left` is called when a connection has ended.
  serving(coop::scheduler& on, const coop::io::service& net, problem& work, int back_ends,
          std::function<void()> left);

  [[nodiscard]] const limits& allowed() const { return state_.allowed; }
  [[nodiscard]] bool sweeps() const { return work_.sweeps(); }

  /// To be awaited before the first client comes: connects to the back end.
  coop::task<> begin();
  /// Sends idle clients away, waits until all have gone, and ends what begin() has begun. The
  /// server is `stopping`, and no further clients come.
  coop::task<> end();

 private:
  [[nodiscard]] back_end_client* back_end(std::size_t client) const {
    return back_ends_.empty() ? nullptr : back_ends_[client % back_ends_.size()].get();
  }
  coop::task<> sweep();

  coop::scheduler& on_;
  const coop::io::service& net_;
  problem& work_;
  server_state& state_;
  std::size_t back_ends_wanted_;
  std::function<void()> left_;
  std::vector<std::unique_ptr<back_end_client>> back_ends_;
  std::size_t served_ = 0;  // clients so far
  connection* first_ = nullptr;
  bool ending_ = false;
  counted_semaphore alone_{0, "the last client"};
  std::optional<coop::strand<>> sweeper_;
};

/// Where clients come in, until SIGTERM. `Semaphore` is one of this scheduler or, where clients are
/// handed to several, one between groups.
template <class Semaphore>
class entrance {
 public:
  entrance(const coop::io::service& net, problem& work)
      : state_(work.server()),
        door_(net.adopt_listener(dup(work.door()), "door")),
        stop_(net, {SIGTERM}),
        places_(static_cast<std::uint64_t>(state_.allowed.connections), "places") {}

  /// Calls `admit(socket)` for each client until the door is closed; while as many are there as are
  /// allowed, further ones wait outside.
  coop::task<> accept_all(std::function<void(const coop::io::socket&)> admit) {
    for (;;) {
      co_await places_.P();
      const auto come = co_await door_.accept();
      if (!come) co_return;  // closed
      state_.opened();
      admit(come.reached());
    }
  }
  /// Waits for SIGTERM, and closes the door.
  coop::task<> close_at_signal() {
    const coop::io::result<coop::io::signal_event> come = co_await stop_.next();
    static_cast<void>(come.value());
    state_.stopping = true;
    const coop::io::result<void> closed = co_await door_.close();
    closed.value();
  }
  /// A client that was admitted has gone.
  void left() {
    --state_.open;
    places_.V();
  }

  [[nodiscard]] const Semaphore& places() const { return places_; }

 private:
  server_state& state_;
  coop::io::listener door_;
  coop::io::signal_set stop_;
  Semaphore places_;  // for further connections
};

/// The stack of a fiber that serves a client. The parser's frames, with AddressSanitizer's room
/// around each variable, need more than usual.
#if defined(HEDDLE_ASAN)
inline constexpr std::size_t client_stack_bytes = 512 * 1024;
#else
inline constexpr std::size_t client_stack_bytes = 64 * 1024;
#endif

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
