// An HTTP server in strands: each connection is a coroutine that reads as if it were alone.
//
//   build/examples/http_server 8080 &
//   curl -d 'shuttle' http://127.0.0.1:8080/weave
//   kill %1
//
// Look at: no callback and no state machine; a limit in time is within(); SIGTERM is something to
// wait for; what is being answered when it comes is answered. HTTP itself is Boost.Beast's, which
// must be compiled with BOOST_DISABLE_ASSERTS: 1.74 has one that a chunk cut by the network fails.
#include <signal.h>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <list>
#include <optional>
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

response refusal(http::status why) {
  response given{why, 11};
  given.body() = std::string(http::obsolete_reason(why)) + '\n';
  given.keep_alive(false);
  return given;
}

constexpr std::uint32_t longest_header = 8 * 1024;
constexpr std::uint64_t longest_body = 1024 * 1024;

http::status status_of(const boost::beast::error_code& error, const request& read) {
  if (error == http::error::body_limit) return http::status::payload_too_large;
  if (error != http::error::header_limit) return http::status::bad_request;
  return read.target().empty() ? http::status::uri_too_long
                               : http::status::request_header_fields_too_large;
}

// RFC 9112, 3.2: exactly one, from HTTP/1.1 on.
bool has_its_host(const request& asked) {
  const std::size_t hosts = asked.count(http::field::host);
  return hosts == 1 || (hosts == 0 && asked.version() < 11);
}

// A page of memory, and what was read beyond the request before.
struct input {
  io::buffer page{16 * 1024};
  std::string ahead;
};

// Results in ok, why the request is to be refused, or nothing if the peer has gone or is too slow.
task<std::optional<http::status>> read_request(const io::socket& peer, input& from,
                                               request_parser& parser) {
  parser.eager(true);
  parser.header_limit(longest_header);
  parser.body_limit(longest_body);
  // The limit is for the whole request: one that comes a byte at a time is late, too.
  const auto limit = std::chrono::steady_clock::now() + 10s;
  bool waits_for_leave = true;
  while (true) {
    boost::beast::error_code error = http::error::need_more;
    if (!from.ahead.empty()) {
      from.ahead.erase(0, parser.put(boost::asio::buffer(from.ahead), error));
    }
    if (error && error != http::error::need_more) co_return status_of(error, parser.get());
    if (parser.is_header_done() && !has_its_host(parser.get())) co_return http::status::bad_request;
    if (parser.is_done()) co_return http::status::ok;
    if (parser.is_header_done() && std::exchange(waits_for_leave, false) &&
        boost::beast::iequals(parser.get()[http::field::expect], "100-continue")) {
      (void)co_await peer.write_all(io::buffer::copy_of("HTTP/1.1 100 Continue\r\n\r\n"));
    }
    const auto left = limit - std::chrono::steady_clock::now();
    const auto read = co_await within(left, peer.read(from.page));
    if (!read || !*read || read->reached() == 0) co_return std::nullopt;
    from.ahead += from.page.text(read->reached());
  }
}

// Closed with something unread, TCP throws the connection away, and with it the answer that the
// peer has not read yet (RFC 9112, 9.6).
task<> hear_out(const io::socket& peer, const io::buffer& page) {
  (void)peer.shutdown(io::ending::writing);
  const auto limit = std::chrono::steady_clock::now() + 2s;
  while (true) {
    const auto read = co_await within(limit - std::chrono::steady_clock::now(), peer.read(page));
    if (!read || !*read || read->reached() == 0) co_return;
  }
}

task<> serve(io::socket peer, const bool& stopping) {
  input from;
  for (bool goes_on = true; goes_on;) {
    request_parser parser;
    const auto read = co_await read_request(peer, from, parser);
    if (!read) co_return;
    response given = *read == http::status::ok ? answer(parser.get()) : refusal(*read);
    if (stopping) given.keep_alive(false);
    goes_on = given.keep_alive();
    given.prepare_payload();
    // To a HEAD belongs the length of what a GET would get, and nothing more.
    if (parser.get().method() == http::verb::head) given.body().clear();
    std::ostringstream text;
    text << given;
    const auto written = co_await within(10s, peer.write_all(io::buffer::copy_of(text.str())));
    if (!written || !*written) co_return;
    if (*read != http::status::ok) co_await hear_out(peer, from.page);
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
    // Strands that wait for a request read the end of the connection.
    for (const io::socket& each : open) (void)each.shutdown(io::ending::reading);
  });
  std::cout << "listening at " << door.address().value().text() << std::endl;
  s.run();
}
