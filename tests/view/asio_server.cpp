// An echo server of Boost.Asio, and CLIENTS clients of it in the same process, each of which asks
// QUESTIONS times: all of them coroutines of one thread.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp, asio::awaitable, asio::use_awaitable;

constexpr int CLIENTS = 3;
constexpr int QUESTIONS = 10;
constexpr std::size_t BYTES = 16;

int answers;

void count_answer() { answers++; }

// Serves a client until that has gone.
awaitable<void> echo(tcp::socket socket) {
  char bytes[BYTES];
  const asio::mutable_buffer echoed = asio::buffer(bytes);
  try {
    for (;;) {
      co_await asio::async_read(socket, echoed, use_awaitable);
      co_await asio::async_write(socket, echoed, use_awaitable);
    }
  } catch (const boost::system::system_error&) {
  }
}

awaitable<void> listen(tcp::acceptor& acceptor) {
  for (int client = 0; client < CLIENTS; client++) {
    tcp::socket socket = co_await acceptor.async_accept(use_awaitable);
    asio::co_spawn(acceptor.get_executor(), echo(std::move(socket)), asio::detached);
  }
}

awaitable<void> ask(asio::io_context& context, tcp::endpoint server) {
  tcp::socket socket(context);
  co_await socket.async_connect(server, use_awaitable);
  char bytes[BYTES] = "a question";
  for (int question = 0; question < QUESTIONS; question++) {
    co_await asio::async_write(socket, asio::buffer(bytes), use_awaitable);
    co_await asio::async_read(socket, asio::buffer(bytes), use_awaitable);
    count_answer();
  }
}

}  // namespace

int main() {
  asio::io_context context;
  tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  asio::co_spawn(context, listen(acceptor), asio::detached);
  for (int client = 0; client < CLIENTS; client++)
    asio::co_spawn(context, ask(context, acceptor.local_endpoint()), asio::detached);
  context.run();
  std::printf("%d answers\n", answers);
  return answers == CLIENTS * QUESTIONS ? 0 : 1;
}
