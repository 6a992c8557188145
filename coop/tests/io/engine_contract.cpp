// Tests the contract between strands and an engine with an engine that the test controls.
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "heddle/coop/ext/operation.hpp"
#include "helpers.hpp"

// Its strands are tasks where that makes no difference.
#define STACKFUL 0
#include "../strand_kinds.hpp"

namespace {

class scripted_engine final : public io::engine {
 public:
  using step = std::function<void(scripted_engine&, io::completions&)>;

  /// `script`: what each collect() that may wait does; the last one for all that follow.
  explicit scripted_engine(std::vector<step> script) : script_(std::move(script)) {}

  bool start(io::detail::operation& wanted) override {
    offsets.push_back(wanted.rest_offset());
    left.push_back(wanted.rest_bytes());
    if (started.size() == room) return false;
    started.push_back(&wanted);
    return true;
  }
  void cancel(io::detail::operation& unwanted) override { cancelled.push_back(&unwanted); }
  void collect(io::completions& to, std::optional<duration> limit) override {
    if (limit == duration::zero()) return;
    const std::size_t now = at_ < script_.size() ? at_++ : script_.size() - 1;
    script_[now](*this, to);
  }

  void interrupt() noexcept override { interrupted = true; }
  [[nodiscard]] int fd() noexcept override { return -1; }

  /// Completes the oldest one.
  void end_first(io::completions& to, long outcome) {
    io::detail::operation* const first = started.front();
    started.erase(started.begin());
    to.complete(*first, outcome);
  }

  std::vector<io::detail::operation*> started;
  std::vector<io::detail::operation*> cancelled;
  bool interrupted = false;
  std::size_t room = SIZE_MAX;
  // The offset of every offer, and the bytes left.
  std::vector<std::int64_t> offsets;
  std::vector<std::size_t> left;

 private:
  std::vector<step> script_;
  std::size_t at_ = 0;
};

scripted_engine::step ends_with(long outcome) {
  return [outcome](scripted_engine& self, io::completions& to) { self.end_first(to, outcome); };
}

/// A service over it, on a scheduler, with a file.
struct scene {
  scheduler s{{.clock = clock_policy::real}};
  scripted_engine* engine;
  std::unique_ptr<io::service> files;
  temporary_file data;
  io::file f;

  explicit scene(std::vector<scripted_engine::step> script) {
    auto made = std::make_unique<scripted_engine>(std::move(script));
    engine = made.get();
    files = std::make_unique<io::service>(s, std::move(made), "scripted");
    f = files->adopt(::open(data.path().c_str(), O_RDWR | O_CLOEXEC), "file");
  }
};

}  // namespace

TEST_CASE("what a signal interrupted, or was short, is started again where it stopped") {
  scene on({ends_with(-EINTR), ends_with(3), ends_with(-EINTR), ends_with(7)});
  const io::buffer memory(10);
  on.s.spawn(BODY(&) { CHECK(WAIT(on.f.write_all(memory, 100)).value() == 10); });
  on.s.run();
  CHECK(on.engine->offsets == std::vector<std::int64_t>{100, 100, 103, 103});
  CHECK(on.engine->left == std::vector<std::size_t>{10, 10, 7, 7});
}

TEST_CASE("a close that a signal interrupted is not tried again") {
  scene on({ends_with(-EINTR)});
  const int fd = on.f.fd();
  on.s.spawn(BODY(&) { WAIT(on.f.close()).value(); });
  on.s.run();
  CHECK(on.engine->offsets.size() == 1);
  CHECK(is_open(fd));  // as this engine closed nothing
  ::close(fd);
}

TEST_CASE("a write that moves nothing is an error, not an endless loop") {
  scene on({ends_with(0)});
  on.s.spawn(
      BODY(&) { CHECK(WAIT(on.f.write_all(io::buffer(10), 0)).error() == std::errc::io_error); });
  on.s.run();
}

TEST_CASE("what the engine has no room for is offered again, in order") {
  scene on({ends_with(4)});
  on.engine->room = 1;
  std::string order;
  for (const char letter : {'a', 'b', 'c'}) {
    on.s.spawn(BODY(&, letter) {
      CHECK(WAIT(on.f.read(io::buffer(4), 0)).value() == 4);
      order += letter;
    });
  }
  auto given_up = on.s.spawn(BODY(&) {
    CHECK_FALSE(WAIT(within(0s, on.f.read(io::buffer(4), 0))).has_value());
    order += '-';
  });
  on.s.run();
  CHECK(given_up.done());
  CHECK(on.engine->cancelled.empty());  // it was never there
  CHECK((order == "-abc" || order == "a-bc"));
}

TEST_CASE("what was over before the kernel could cancel it is granted") {
  SUBCASE("a cancellation is told at the next wait") {
    scene on({ends_with(4)});
    std::size_t count = 0;
    bool went_on = false;
    auto reader = on.s.spawn(BODY(&) {
      count = WAIT(on.f.read(io::buffer(4), 0)).value();
      WAIT(yield());
      went_on = true;
    });
    on.s.spawn(BODY(&) {
      reader.cancel();
      reader.cancel();
      WAIT(yield());
      CHECK_FALSE(reader.done());
    });
    on.s.run();
    CHECK(on.engine->cancelled.size() == 1);
    CHECK(count == 4);
    CHECK_FALSE(went_on);
    CHECK(reader.done());
  }
  SUBCASE("a time limit is forgotten") {
    // The first wait passes without a completion, so that the time is over.
    scene on({[](scripted_engine&, io::completions&) {}, ends_with(4)});
    on.s.spawn(BODY(&) {
      const auto read = WAIT(within(0s, on.f.read(io::buffer(4), 0)));
      REQUIRE(read.has_value());
      CHECK(read->value() == 4);
      WAIT(yield());
    });
    on.s.run();
    CHECK(on.engine->cancelled.size() == 1);
  }
}

TEST_CASE("a wait that timed out and is cancelled then ends as cancelled") {
  scene on({[](scripted_engine&, io::completions&) {}, ends_with(-ECANCELED)});
  bool went_on = false;
  auto reader = on.s.spawn(BODY(&) {
    static_cast<void>(WAIT(within(0s, on.f.read(io::buffer(4), 0))));
    went_on = true;
  });
  on.s.spawn(BODY(&) {
    while (on.engine->cancelled.empty()) WAIT(yield());
    reader.cancel();
  });
  on.s.run();
  CHECK(reader.done());
  CHECK_FALSE(went_on);
  CHECK(on.engine->cancelled.size() == 1);
}

TEST_CASE("a destroyed strand's buffer and file stay until the kernel has let go of them") {
  // The engine fails while nothing can run: the one way out of run() with strands in flight.
  auto s = std::make_unique<scheduler>();
  int fds[2];
  int open_while_in_flight = 0;
  {
    std::vector<scripted_engine::step> script = {
        [](scripted_engine&, io::completions&) { throw std::runtime_error("no engine"); },
        [&](scripted_engine& self, io::completions& to) {
          REQUIRE(self.started.size() == 2);
          for (const int fd : fds) open_while_in_flight += is_open(fd) ? 1 : 0;
          // The kernel's write: AddressSanitizer sees it if the memory is gone.
          for (auto* each : self.started) std::memset(each->data, 'x', each->size);
          self.end_first(to, 1000);
          self.end_first(to, -ECANCELED);
        }};
    auto made = std::make_unique<scripted_engine>(std::move(script));
    const scripted_engine& engine = *made;
    io::service files(*s, std::move(made), "scripted");
    const temporary_file data;
    const auto opened = [&](int& fd) {
      fd = ::open(data.path().c_str(), O_RDONLY | O_CLOEXEC);
      return files.adopt(fd, "file");
    };
    s->spawn([&] { await(opened(fds[0]).read_all(io::buffer(1000), 0)).value(); });
    s->spawn([&]() -> task<> { (co_await opened(fds[1]).read_all(io::buffer(1000), 0)).value(); });
    s->spawn([]() -> task<> { co_await yield(); });  // the last to run: run() itself finds nothing
    CHECK_THROWS_WITH_AS(s->run(), "no engine", std::runtime_error);
    CHECK(engine.started.size() == 2);
    SUBCASE("the scheduler goes before the service") {
      s.reset();
      CHECK(engine.cancelled.size() == 2);
      CHECK(is_open(fds[0]));
    }
    SUBCASE("the service goes before the scheduler") {}
  }
  CHECK(open_while_in_flight == 2);
  s.reset();
  CHECK_FALSE(is_open(fds[0]));
  CHECK_FALSE(is_open(fds[1]));
}

TEST_CASE("parts of a buffer keep it alive, and alignment is as asked") {
  io::buffer part;
  {
    const io::buffer whole = io::buffer::copy_of("hello, world");
    part = whole.part(7, 3);
    CHECK(whole.part(99).size() == 0);
    CHECK(whole.part(10, 99).text() == "ld");
  }
  CHECK(part.text() == "wor");
  CHECK(part.part(1).text() == "or");
  for (const std::size_t alignment : {1UL, 64UL, 512UL, 4096UL}) {
    const io::buffer aligned(100, alignment);
    CHECK(reinterpret_cast<std::uintptr_t>(aligned.data()) % alignment == 0);
    CHECK(aligned.text() == std::string(100, '\0'));
  }
}
