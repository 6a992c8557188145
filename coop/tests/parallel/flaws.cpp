// Programs that break a rule of groups, to be ended with a message: `flaws WHICH`.
#include <string>
#include <utility>

#include "heddle/coop/link/link.hpp"
#include "heddle/coop/parallel/barrier.hpp"
#include "heddle/coop/parallel/group_local.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/move_to.hpp"
#include "heddle/coop/parallel/semaphore.hpp"

namespace parallel = heddle::coop::parallel;
using heddle::coop::await;
using heddle::coop::task;

int main(int, char** arguments) {
  const std::string flaw = arguments[1];
  parallel::groups g({.count = 2});
  parallel::semaphore touched(0);
  parallel::group_local<int> eaten(0, "eaten");
  if (flaw == "group-local") {
    g[1].spawn(
        [&]() -> task<> {
          ++*eaten;
          touched.V();
          co_return;
        },
        "owner");
    g[0].spawn(
        [&] {
          await(touched.P());
          ++*eaten;
        },
        "thief");
  } else if (flaw == "none") {
    for (int i = 0; i < 2; ++i) {
      g[1].spawn([&] { ++*eaten; });
    }
    g.run();
    return *eaten == 2 ? 0 : 1;
  } else if (flaw == "join" || flaw == "cancel" || flaw == "stopper") {
    auto other = g[1].scheduler().spawn([&] { await(touched.P()); }, "other");
    g[0].spawn([&] {
      if (flaw == "join") {
        await(other.join());
      } else if (flaw == "stopper") {
        other.stopper().request_stop();
      } else {
        other.cancel();
      }
    });
    g.run();
  } else if (flaw == "scheduler") {
    g[0].spawn([&] { g[1].scheduler().spawn([] {}); });
  } else if (flaw == "link") {
    auto [client, server] = heddle::coop::make_link<int, int>("orders");
    g[0].spawn([&, end = std::move(client)]() mutable {
      await(end.call(1));
      await(parallel::move_to(g[1]));
    });
    g[1].spawn([end = std::move(server)]() mutable {
      end.on([](int number) { return number; });
      await(end.finished());
    });
  } else if (flaw == "run-in-strand") {
    g[0].spawn([&] { g.run(); });
  } else if (flaw == "run-of-one") {
    g[0].scheduler().run();
  } else if (flaw == "barrier") {
    parallel::barrier line(g, {1, 0});
    g[1].spawn([&] { await(line.arrive_and_wait()); });
    g.run();
  }
  g.run();
}
