// A network simulated twice: by blocking code under virtual time, and by events and handlers.
//
//   build/examples/simulator [clients [requests [seed [seed of the second]]]]
//
// Clients ask a server over a link, wait for the answer, but no longer than their patience, and
// think for a while. The server's workers take one request at a time.
//
// "Network simulators are generally discrete event simulators; they require that the application
// models return control to the event loop …. Therefore the application models must be written in
// some sort of non-blocking, event driven manner." (Coroutines in C/C++: beyond Duff's Device)
// Not so here: `blocking` below is written as a real program would be, with calls that wait, and
// `event_driven` is what it would have to be otherwise. Both log what happens, and the program
// fails if the logs differ in any event.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/coop/await.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/sync/channel.hpp"
#include "heddle/coop/yield.hpp"

namespace {

using heddle::coop::duration;
using namespace std::chrono_literals;

struct model {
  int clients = 20;
  int requests = 50;  // of each client
  std::uint64_t seed = 1;
  int workers = 2;
  duration link_latency = 5ms;
  duration patience = 150ms;
  duration mean_thought = 200ms;
  duration mean_service = 18ms;
};

/// The random choices of one client or worker, the same in both simulations.
class chance {
 public:
  chance(const model& setup, int who, duration mean)
      : random_(setup.seed * 1'000'003 + static_cast<std::uint64_t>(who)),
        length_(1.0 / static_cast<double>(mean.count())) {}
  duration next() { return duration(static_cast<std::int64_t>(length_(random_))); }

 private:
  std::mt19937_64 random_;
  std::exponential_distribution<double> length_;
};

struct event {
  duration at;
  std::string_view what;
  int client;
  int request;
  bool operator==(const event&) const = default;
};
using event_log = std::vector<event>;

struct message {
  int client = 0;
  int request = 0;
};

// ---- blocking code ------------------------------------------------------------------------------

using heddle::coop::await;
using heddle::coop::channel;
using heddle::coop::sleep_for;
using heddle::coop::within;

class blocking {
 public:
  explicit blocking(const model& setup)
      : setup_(setup),
        time_({.clock = heddle::coop::clock_policy::simulated}),
        to_server_(unbounded, "requests") {}

  event_log run() {
    for (int i = 0; i < setup_.clients; ++i) {
      answers_.push_back(std::make_unique<channel<message>>(unbounded, "answers"));
    }
    for (int i = 0; i < setup_.workers; ++i) time_.spawn([this, i] { work(i); }, "worker");
    for (int i = 0; i < setup_.clients; ++i) time_.spawn([this, i] { ask(i); }, "client");
    time_.run();
    return std::move(log_);
  }

 private:
  static constexpr std::size_t unbounded = SIZE_MAX;

  void ask(int client) {
    chance thought(setup_, client, setup_.mean_thought);
    for (int request = 0; request < setup_.requests; ++request) {
      await(sleep_for(thought.next()));
      note("asks", client, request);
      send(to_server_, {client, request});
      const bool answered = receive(client, request);
      note(answered ? "has its answer" : "gives up", client, request);
    }
    if (++clients_done_ == setup_.clients) to_server_.close();
  }

  // A read with a limit, as of a socket; answers that come too late are read and dropped.
  bool receive(int client, int request) {
    const auto until = time_.now() + setup_.patience;
    for (;;) {
      const auto answer = await(within(until - time_.now(), answers_[index(client)]->pop()));
      if (!answer) return false;
      if ((*answer)->request == request) return true;
    }
  }

  void work(int worker) {
    chance service(setup_, -1 - worker, setup_.mean_service);
    while (const auto asked = await(to_server_.pop())) {
      note("is served", asked->client, asked->request);
      await(sleep_for(service.next()));
      note("is answered", asked->client, asked->request);
      send(*answers_[index(asked->client)], *asked);
    }
  }

  // The link: what is sent arrives later.
  void send(channel<message>& to, message what) {
    time_.spawn([this, &to, what] {
      await(sleep_for(setup_.link_latency));
      await(to.push(what));
    });
  }

  void note(std::string_view what, int client, int request) {
    log_.push_back({time_.now().time_since_epoch(), what, client, request});
  }
  static std::size_t index(int client) { return static_cast<std::size_t>(client); }

  model setup_;
  heddle::coop::scheduler time_;
  channel<message> to_server_;
  std::vector<std::unique_ptr<channel<message>>> answers_;
  int clients_done_ = 0;
  event_log log_;
};

// ---- the same, turned inside out ----------------------------------------------------------------

class event_driven {
 public:
  explicit event_driven(const model& setup) : setup_(setup) {}

  event_log run() {
    for (int i = 0; i < setup_.workers; ++i) {
      workers_.push_back({chance(setup_, -1 - i, setup_.mean_service), {}});
      idle_.push_back(i);
    }
    for (int i = 0; i < setup_.clients; ++i) {
      clients_.push_back({chance(setup_, i, setup_.mean_thought), 0, false, 0});
      think(i);
    }
    while (!pending_.empty()) {
      const entry next = pending_.top();
      pending_.pop();
      now_ = next.at;
      next.handler();
    }
    return std::move(log_);
  }

 private:
  struct client_state {
    chance thought;
    int request;
    bool waits;
    std::uint64_t limit;  // which limit is in force: others are of requests that are over
  };
  struct worker_state {
    chance service;
    message serves;
  };
  struct entry {
    duration at;
    std::uint64_t order;
    std::function<void()> handler;
    bool operator<(const entry& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  void think(int client) {
    if (clients_[index(client)].request == setup_.requests) return;
    after(clients_[index(client)].thought.next(), [this, client] { thought_over(client); });
  }
  void thought_over(int client) {
    client_state& self = clients_[index(client)];
    note("asks", client, self.request);
    const message what{client, self.request};
    after(setup_.link_latency, [this, what] { request_arrives(what); });
    self.waits = true;
    const std::uint64_t limit = ++self.limit;
    after(setup_.patience, [this, client, limit] { patience_over(client, limit); });
  }
  void request_arrives(message what) {
    queue_.push_back(what);
    if (!idle_.empty()) {
      const int worker = idle_.front();
      idle_.pop_front();
      begin_service(worker);
    }
  }
  void begin_service(int worker) {
    worker_state& self = workers_[index(worker)];
    self.serves = queue_.front();
    queue_.pop_front();
    note("is served", self.serves.client, self.serves.request);
    after(self.service.next(), [this, worker] { service_over(worker); });
  }
  void service_over(int worker) {
    const message done = workers_[index(worker)].serves;
    note("is answered", done.client, done.request);
    after(setup_.link_latency, [this, done] { answer_arrives(done); });
    if (queue_.empty()) {
      idle_.push_back(worker);
    } else {
      begin_service(worker);
    }
  }
  void answer_arrives(message what) {
    const client_state& self = clients_[index(what.client)];
    if (self.waits && self.request == what.request) end_request(what.client, "has its answer");
  }
  void patience_over(int client, std::uint64_t limit) {
    const client_state& self = clients_[index(client)];
    if (self.waits && self.limit == limit) end_request(client, "gives up");
  }
  void end_request(int client, std::string_view how) {
    client_state& self = clients_[index(client)];
    note(how, client, self.request);
    self.waits = false;
    ++self.request;
    think(client);
  }

  void after(duration wait, std::function<void()> handler) {
    pending_.push({now_ + wait, ++scheduled_, std::move(handler)});
  }
  void note(std::string_view what, int client, int request) {
    log_.push_back({now_, what, client, request});
  }
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  model setup_;
  duration now_{};
  std::uint64_t scheduled_ = 0;
  std::priority_queue<entry> pending_;
  std::vector<client_state> clients_;
  std::vector<worker_state> workers_;
  std::deque<int> idle_;
  std::deque<message> queue_;
  event_log log_;
};

// ---- both ---------------------------------------------------------------------------------------

template <class Simulation>
event_log simulate(const char* name, const model& setup) {
  const auto begin = std::chrono::steady_clock::now();
  event_log log = Simulation(setup).run();
  const auto took = std::chrono::steady_clock::now() - begin;
  std::printf(
      "%-13s %zu events in %.3f simulated seconds, %.0f real ns an event\n", name, log.size(),
      log.empty() ? 0.0 : std::chrono::duration<double>(log.back().at).count(),
      std::chrono::duration<double, std::nano>(took).count() / static_cast<double>(log.size()));
  return log;
}

std::string text(const event_log& log, std::size_t i) {
  if (i >= log.size()) return "nothing more";
  const event& e = log[i];
  return std::to_string(e.at.count()) + " ns: client " + std::to_string(e.client) + "'s request " +
         std::to_string(e.request) + ' ' + std::string(e.what);
}

}  // namespace

int main(int argc, char** argv) {
  model setup;
  if (argc > 1) setup.clients = std::atoi(argv[1]);
  if (argc > 2) setup.requests = std::atoi(argv[2]);
  if (argc > 3) setup.seed = std::strtoull(argv[3], nullptr, 10);
  if (setup.clients < 1 || setup.requests < 1) {
    std::fprintf(stderr, "usage: simulator [clients [requests [seed [seed of the second]]]]\n");
    return 2;
  }
  const event_log expected = simulate<blocking>("blocking", setup);
  if (argc > 4) setup.seed = std::strtoull(argv[4], nullptr, 10);
  const event_log actual = simulate<event_driven>("event-driven", setup);

  for (std::size_t i = 0; i < expected.size() || i < actual.size(); ++i) {
    if (i < expected.size() && i < actual.size() && expected[i] == actual[i]) continue;
    std::fprintf(stderr,
                 "error: the logs differ in event %zu\n  blocking:     %s\n  event-driven: %s\n", i,
                 text(expected, i).c_str(), text(actual, i).c_str());
    return 1;
  }
  std::size_t given_up = 0;
  for (const event& e : actual) given_up += e.what == "gives up" ? 1 : 0;
  std::printf("the same events at the same times; %zu requests of %d were given up\n", given_up,
              setup.clients * setup.requests);
}
