// An HTTP server in strands: each connection is a coroutine that reads as if it were alone.
//
//   build/examples/http_server 8080 &
//   curl -d 'shuttle' http://127.0.0.1:8080/weave
//   kill %1
//
// Look at: no callback and no state machine; a limit in time is within(); SIGTERM is something to
// wait for; what is being answered when it comes is answered. HTTP itself is Boost.Beast's.
#include <signal.h>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <list>
#include <sstream>
#include <string>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/io/service.hpp"
#include "heddle/coop/io/signal_set.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"

namespace {

using namespace heddle::coop;
using namespace std::chrono_literals;
namespace http = boost::beast::http;

using request = http::request<http::string_body>;
using response = http::response<http::string_body>;
using request_parser = http::request_parser<http::string_body>;

response answer(const request& asked) {
  response given{http::status::ok, asked.version()};
  given.body() = std::string(asked.method_string()) + ' ' + std::string(asked.target()) + '\n' +
                 asked.body() + '\n';
  given.keep_alive(asked.keep_alive());
  return given;
}

response refusal() {
  response given{http::status::bad_request, 11};
  given.keep_alive(false);
  return given;
}

// A page of memory, and what was read beyond the request before.
struct input {
  io::buffer page{16 * 1024};
  std::string ahead;
};

enum class outcome { whole, malformed, nothing };

task<outcome> read_request(const io::socket& peer, input& from, request_parser& parser) {
  parser.eager(true);
  // Of the whole request: one that comes a byte at a time is late, too.
  const auto limit = std::chrono::steady_clock::now() + 10s;
  bool waits_for_leave = true;
  while (true) {
    boost::beast::error_code error = http::error::need_more;
    if (!from.ahead.empty()) {
      from.ahead.erase(0, parser.put(boost::asio::buffer(from.ahead), error));
    }
    if (error && error != http::error::need_more) co_return outcome::malformed;
    if (parser.is_done()) co_return outcome::whole;
    if (parser.is_header_done() && std::exchange(waits_for_leave, false) &&
        boost::beast::iequals(parser.get()[http::field::expect], "100-continue")) {
      (void)co_await peer.write_all(io::buffer::copy_of("HTTP/1.1 100 Continue\r\n\r\n"));
    }
    const auto left = limit - std::chrono::steady_clock::now();
    const auto read = co_await within(left, peer.read(from.page));
    if (!read || !*read || read->reached() == 0) co_return outcome::nothing;
    from.ahead += from.page.text(read->reached());
  }
}

task<> serve(io::socket peer, const bool& stopping) {
  input from;
  for (bool goes_on = true; goes_on;) {
    request_parser parser;
    const outcome read = co_await read_request(peer, from, parser);
    if (read == outcome::nothing) co_return;
    response given = read == outcome::whole ? answer(parser.get()) : refusal();
    if (stopping) given.keep_alive(false);
    goes_on = given.keep_alive();
    given.prepare_payload();
    // To a HEAD belongs the length of what a GET would get, and nothing more.
    if (parser.get().method() == http::verb::head) given.body().clear();
    std::ostringstream text;
    text << given;
    const auto written = co_await within(10s, peer.write_all(io::buffer::copy_of(text.str())));
    if (!written || !*written) co_return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int port = argc == 2 ? std::atoi(argv[1]) : 8080;
  scheduler s;
  const io::service net(s);
  const io::listener door =
      net.listen(io::endpoint::ip("127.0.0.1", static_cast<std::uint16_t>(port))).value();
  const io::signal_set stop(net, {SIGTERM, SIGINT});
  std::list<io::socket> open;
  bool stopping = false;

  s.spawn([&]() -> task<> {
    while (const auto come = co_await door.accept()) {
      const auto place = open.insert(open.end(), come.reached());
      s.spawn([&, place]() -> task<> {
        co_await serve(*place, stopping);
        open.erase(place);
      });
    }
  });
  s.spawn([&]() -> task<> {
    (co_await stop.next()).value();
    stopping = true;
    (co_await door.close()).value();
    // Those that wait for a request find that none comes.
    for (const io::socket& each : open) (void)each.shutdown(io::ending::reading);
  });
  std::cout << "listening at " << door.address().value().text() << std::endl;
  s.run();
}
