// Coroutines of Boost.Asio on several threads: timers and posts decide which thread goes on with
// which.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "../chance.hpp"

namespace {

namespace asio = boost::asio;
using asio::awaitable, asio::use_awaitable;

awaitable<int> asks_once(int number) {
  truth::call here{"asks_once", truth::coroutine()};
  const truth::guard last{here};
  co_await asio::post(use_awaitable);
  here.back();
  truth::point();
  if (number % 4 == 0) throw number;
  co_return number;
}

awaitable<int> asks_often(int depth) {
  truth::call here{"asks_often", truth::coroutine()};
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    try {
      sum += co_await asks_once(static_cast<int>(chance(9)));
    } catch (int) {
      --sum;
    }
    here.back();
    truth::point();
    if (depth > 0) sum += co_await asks_often(depth - 1);
    here.back();
    truth::point();
  }
  co_return sum;
}

awaitable<void> dozes() {
  truth::call here{"dozes", truth::coroutine()};
  const truth::guard last{here};
  asio::steady_timer timer(co_await asio::this_coro::executor);
  here.back();
  for (int i = 0; i < 5; ++i) {
    timer.expires_after(std::chrono::microseconds(chance(100)));
    co_await timer.async_wait(use_awaitable);
    here.back();
    truth::point();
    co_await asks_often(1);
    here.back();
    truth::point();
  }
}

TRACED void serves_all(asio::io_context& context) {
  const truth::call here{"serves_all"};
  context.run();
  here.back();
  truth::point();
}

}  // namespace

TRACED int main() {
  const truth::call here{"main"};
  asio::io_context context;
  for (int i = 0; i < 20; ++i) asio::co_spawn(context, dozes(), asio::detached);
  here.back();
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) threads.emplace_back([&]() PLAIN { serves_all(context); });
  serves_all(context);
  here.back();
  for (std::thread& thread : threads) thread.join();
}
