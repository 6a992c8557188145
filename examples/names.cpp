// Names looked up over UDP, as a DNS client does it: ask, wait a moment, ask again.
//
//   build/examples/names loom shuttle reed
//
// Look at: within() is the whole of the retrying; a lost question and a lost answer are the same;
// what comes from anybody else is no answer. The name server is in the same program, and loses
// every second question.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "heddle/coop/await.hpp"
#include "heddle/coop/io/service.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"

namespace {

using namespace heddle::coop;
using namespace std::chrono_literals;

// A question is "NUMBER NAME", its answer "NUMBER ADDRESS".
task<> answer_all(io::datagram_socket door) {
  const std::map<std::string, std::string, std::less<>> known = {
      {"loom", "192.0.2.1"}, {"shuttle", "192.0.2.2"}, {"reed", "192.0.2.3"}};
  const io::buffer page(512);
  int questions = 0;
  while (const auto come = co_await door.receive(page)) {
    if (++questions % 2 == 1 || come.reached().truncated()) continue;
    const std::string question(page.text(come.reached().bytes));
    const std::size_t blank = question.find(' ');
    if (blank == std::string::npos) continue;
    const auto found = known.find(question.substr(blank + 1));
    const std::string answer =
        question.substr(0, blank + 1) + (found != known.end() ? found->second : "is not known");
    (void)co_await door.send_to(io::buffer::copy_of(answer), come.reached().from);
  }
}

task<std::string> look_up(const io::datagram_socket& server, std::size_t number, std::string name) {
  const std::string id = std::to_string(number) + ' ';
  const io::buffer question = io::buffer::copy_of(id + name);
  const io::buffer page(512);
  std::string why = "no answer";
  for (int tries = 1; tries <= 4; ++tries) {
    if (const auto sent = co_await server.send(question); !sent) {
      why = sent.error().message();  // of the question before: no server
      continue;
    }
    const auto limit = std::chrono::steady_clock::now() + 100ms;
    while (true) {
      const auto left = limit - std::chrono::steady_clock::now();
      const auto come = co_await within(left, server.receive(page));
      if (!come) break;
      if (!*come) {
        why = come->error().message();
        break;
      }
      const std::string_view answer = page.text(come->reached().bytes);
      if (!answer.starts_with(id)) continue;  // to a question that was given up
      co_return std::string(answer.substr(id.size())) + " (asked " + std::to_string(tries) +
          " times)";
    }
  }
  co_return why;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> names(argv + 1, argv + argc);
  scheduler s;
  const io::service net(s);
  const io::datagram_socket door = net.datagrams_at(io::endpoint::ip("127.0.0.1", 0)).value();
  s.spawn([&]() -> task<> { return answer_all(door); }, "name server");
  s.spawn(
      [&]() -> task<> {
        const io::datagram_socket server = net.datagrams_to(door.local().value()).value();
        for (std::size_t i = 0; i < names.size(); ++i) {
          const std::string found = co_await look_up(server, i, names[i]);
          std::cout << names[i] << ": " << found << '\n';
        }
        (co_await door.close()).value();
        const std::string gone = co_await look_up(server, names.size(), "loom");
        std::cout << "without a server: " << gone << '\n';
      },
      "client");
  s.run();
}
