// A server and its clients: a strand for each connection and for each client.
//
//   build/examples/server
//
// Look at: a limit is a part of the wait; the server ends work for which nobody waits any more, by
// when_any(); a scope ends its connections with it, by one cancel(); nothing is locked.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "heddle/coop/await.hpp"
#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/io/service.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/when_tasks.hpp"
#include "heddle/coop/yield.hpp"

namespace {

using namespace heddle::coop;
using namespace std::chrono_literals;

struct counts {
  int answers = 0;
  int silent = 0;     // clients that said nothing for too long
  int abandoned = 0;  // questions whose client has gone before the answer
};

// One end of a connection, with what was read beyond the line before.
struct line_socket {
  // Not an aggregate: GCC 12 destroys those twice where one is made of an awaited result.
  explicit line_socket(io::socket its_peer) : peer(std::move(its_peer)) {}
  io::socket peer;
  std::string ahead;
  io::buffer page{256};
};

// Results in the next line; in an error, or in "" at the end of the connection.
task<io::result<std::string>> read_line(line_socket& from, duration limit) {
  std::size_t end = 0;
  while ((end = from.ahead.find('\n')) == std::string::npos) {
    const auto read = co_await from.peer.read(from.page).within(limit);
    if (!read) co_return io::result<std::string>(read.error().value(), "a line");
    if (read.reached() == 0) co_return io::result<std::string>("");
    from.ahead += from.page.text(read.reached());
  }
  std::string line = from.ahead.substr(0, end);
  from.ahead.erase(0, end + 1);
  co_return io::result<std::string>(std::move(line));
}

// ---- the server --------------------------------------------------------------------------------

task<std::string> answer(std::string question) {
  if (question == "ponder") co_await sleep_for(1h);
  // Nothing that throws: an exception would end the scope, and the other connections with it.
  const std::uint64_t number = std::strtoull(question.c_str(), nullptr, 10);
  co_return std::to_string(number * number) + '\n';
}

// Until the client hangs up, or asks again too early, which ends the connection, too.
task<> gone(const io::socket& peer) {
  const io::buffer page(1);
  (void)co_await peer.read(page);
}

task<> serve(io::socket peer, counts& count) {
  line_socket client(std::move(peer));
  while (true) {
    const auto question = co_await read_line(client, 200ms);
    if (question.error() == std::errc::timed_out) ++count.silent;
    if (!question || question.reached().empty()) co_return;  // `client` goes, which hangs up
    auto first = co_await when_any(answer(question.reached()), gone(client.peer));
    if (first.index() == 1) {
      ++count.abandoned;
      co_return;
    }
    const io::buffer text = io::buffer::copy_of(std::get<0>(first));
    if (!co_await client.peer.write_all(text).within(1s)) co_return;
    ++count.answers;
  }
}

task<> serve_all(scheduler& s, const io::listener& door, counts& count) {
  co_await in_scope(s, [&](scope& connections) -> task<> {
    while (const auto come = co_await door.accept()) {
      connections.spawn(serve(come.reached(), count), "connection");
    }
  });
}

// ---- its clients -------------------------------------------------------------------------------

// A client asks a hundred questions. On a busy machine the server may take it for a silent one in
// between and hang up; then it connects again.
task<int> ask_politely(const io::service& net, io::endpoint server) {
  int right = 0;
  std::optional<line_socket> own;
  for (int number = 1; number <= 100;) {
    if (!own) own.emplace((co_await net.connect(server)).value());
    const io::buffer question = io::buffer::copy_of(std::to_string(number) + '\n');
    const auto written = co_await own->peer.write_all(question);
    const auto line = co_await read_line(*own, 1h);
    if (!written || !line || line.reached().empty()) {
      own.reset();
      continue;
    }
    right += line.reached() == std::to_string(number * number) ? 1 : 0;
    ++number;
  }
  co_return right;
}

// Connects, and says nothing until the server hangs up.
task<bool> say_nothing(const io::service& net, io::endpoint server) {
  line_socket own((co_await net.connect(server)).value());
  const auto line = co_await read_line(own, 1h);
  co_return line&& line.reached().empty();
}

// A client asks what takes an hour to answer, and waits 20 ms.
task<bool> lose_patience(const io::service& net, io::endpoint server) {
  line_socket own((co_await net.connect(server)).value());
  (co_await own.peer.write_all(io::buffer::copy_of("ponder\n"))).value();
  const auto line = co_await read_line(own, 20ms);
  co_return line.error() == std::errc::timed_out;
}

}  // namespace

int main() {
  constexpr int polite = 8;
  scheduler s;
  const io::service net(s);
  const io::listener door = net.listen(io::endpoint::ip("127.0.0.1", 0)).value();
  const io::endpoint at = door.address().value();
  counts count;
  int right = 0;
  bool as_expected = false;
  const strand<> server = s.spawn(serve_all(s, door, count), "server");
  s.spawn(
      [&]() -> task<> {
        std::vector<task<int>> asking;
        for (int i = 0; i < polite; ++i) asking.push_back(ask_politely(net, at));
        auto [answers, hung_up, late] = co_await when_all(
            when_all(std::move(asking)), say_nothing(net, at), lose_patience(net, at));
        for (const int each : answers) right += each;
        while (count.abandoned == 0) co_await yield();  // until the server has noticed
        as_expected = hung_up && late;
        server.cancel();  // and its connections
      },
      "clients");
  s.run();
  std::cout << right << " right answers, " << count.abandoned << " question abandoned\n";
  return as_expected && right == 100 * polite && count.answers >= right && count.silent >= 1 ? 0
                                                                                             : 1;
}
