// CM of the server: a strand a connection, a fiber or a task, all on one scheduler.
#include "workloads/http/serve.hpp"

namespace heddle::lab::http {
namespace {

using namespace coop;

void run(problem& work, region& timed) {
  scheduler s({.stack_bytes = client_stack_bytes});
  const http_service net(s, work);
  entrance<counted_semaphore> door(net, work);
  serving all(s, net, work, work.back_ends_of(0, 1), [&door] { door.left(); });
  const auto admit = [&s, &all](const io::socket& peer) {
#if STACKFUL
    s.spawn([&all, peer]() mutable { serve(all, std::move(peer)); });
#else
    s.spawn(serve(all, peer));
#endif
  };
  s.spawn(
      [&]() -> task<> {
        co_await all.begin();
        co_await door.accept_all(admit);
      },
      "door");
  s.spawn(
      [&]() -> task<> {
        co_await door.close_at_signal();
        co_await all.end();
      },
      "stop");
  timed.begin();
  s.run();
  timed.end();
}

const model<problem> registered{"cooperative/" KIND, &run};

}  // namespace
}  // namespace heddle::lab::http
