// File I/O with what the package links, by whatever mechanism works here. The header has all that
// the example in docs/library.md uses, open()'s flags included.
#include <cstdio>
#include <heddle/coop/io/service.hpp>
#include <heddle/coop/task.hpp>

using namespace heddle::coop;

int main() {
  scheduler s;
  const io::service files(s);
  bool right = false;
  s.spawn([&]() -> task<> {
    const io::file f = (co_await files.open("file_io.tmp", O_RDWR | O_CREAT | O_TRUNC)).value();
    (co_await f.write_all(io::buffer::copy_of("hello"), 0)).value();
    const io::buffer five(5);
    right = (co_await f.read_all(five, 0)).value() == 5 && five.text() == "hello";
    (co_await f.close()).value();
  });
  s.run();
  std::remove("file_io.tmp");
  std::puts(right ? "file_io: ok" : "file_io: what was written was not read");
  return right ? 0 : 1;
}
