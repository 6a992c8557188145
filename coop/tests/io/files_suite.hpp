// Included once for each kind of strand: files, over every mechanism.
#include <sys/resource.h>

#include <csignal>
#include <string>
#include <vector>

#include "../strand_kinds.hpp"
#include "helpers.hpp"

TEST_CASE(KIND "what is written to a file is read from it") {
  over_every_mechanism([](const io::service_options& options) {
    const temporary_file data;
    scheduler s;
    const io::service files(s, options);
    bool over = false;
    s.spawn(BODY(&) {
      io::file f = WAIT(files.open(data.path(), O_RDWR)).value();
      CHECK(WAIT(f.write(io::buffer::copy_of("hello, world"), 0)).value() == 12);
      CHECK(WAIT(f.write_all(io::buffer::copy_of("W"), 7)).value() == 1);
      WAIT(f.fdatasync()).value();
      WAIT(f.fsync()).value();
      CHECK(WAIT(f.size()).value() == 12);
      io::buffer all(12);
      CHECK(WAIT(f.read(all.part(7), 7)).value() == 5);
      CHECK(WAIT(f.read(all.part(0, 7), 0)).value() == 7);
      CHECK(all.text() == "hello, World");
      // At the file's own position.
      io::buffer five(5);
      CHECK(WAIT(f.read(five)).value() == 5);
      CHECK(WAIT(f.read_all(five.part(2))).value() == 3);
      CHECK(five.text() == "he, W");
      CHECK(WAIT(f.write(io::buffer::copy_of("!"))).value() == 1);
      CHECK(WAIT(f.size()).value() == 12);
      WAIT(f.close()).value();
      over = true;
    });
    s.run();
    CHECK(over);
  });
}

TEST_CASE(KIND "a result without an error has no error code") {
  scheduler s;
  const io::service files(s, {.only = io::mechanism::threads});
  const temporary_file path("abc");
  s.spawn(BODY(&) {
    const auto opened = WAIT(files.open(path.path(), O_RDONLY));
    CHECK(opened.error() == std::error_code());
    CHECK_FALSE(opened.error());
    const io::file data = opened.value();
    CHECK(WAIT(data.close()).error() == std::error_code());
    CHECK(WAIT(data.close()).error() == std::errc::bad_file_descriptor);
  });
  s.run();
}

TEST_CASE(KIND "a read is short at the end of the file, and 0 beyond it") {
  over_every_mechanism([](const io::service_options& options) {
    const temporary_file data("0123456789");
    scheduler s;
    const io::service files(s, options);
    s.spawn(BODY(&) {
      io::file f = WAIT(files.open(data.path(), O_RDONLY)).value();
      io::buffer eight(8);
      CHECK(WAIT(f.read(eight, 6)).value() == 4);
      CHECK(eight.text(4) == "6789");
      CHECK(WAIT(f.read_all(eight, 8)).value() == 2);
      CHECK(WAIT(f.read(eight, 10)).value() == 0);
      CHECK(WAIT(f.read_all(eight, 99)).value() == 0);
      CHECK(WAIT(f.read(io::buffer(), 0)).value() == 0);
    });
    s.run();
  });
}

TEST_CASE(KIND "read_all puts together what a pipe gives in pieces") {
  over_every_mechanism([](const io::service_options& options) {
    pipe_ends pipe;
    scheduler s;
    const io::service files(s, options);
    const io::file from = files.adopt(pipe.from, "pipe");
    s.spawn(BODY(&) {
      io::buffer nine(9);
      CHECK(WAIT(from.read_all(nine)).value() == 9);
      CHECK(nine.text() == "abcdefghi");
      CHECK(WAIT(from.read_all(nine)).value() == 2);  // then the writer is gone
      CHECK(nine.text(2) == "jk");
    });
    s.spawn(BODY(&) {
      for (const char* piece : {"abc", "def", "ghij", "k"}) {
        WAIT(sleep_for(1ms));
        pipe.put(piece);
      }
      pipe.close_writer();
    });
    s.run();
  });
}

TEST_CASE(KIND "an error says what failed, on which file, and why") {
  over_every_mechanism([](const io::service_options& options) {
    scheduler s;
    const io::service files(s, options);
    s.spawn(BODY(&) {
      auto missing = WAIT(files.open("no/such/file", O_RDONLY));
      CHECK_FALSE(missing);
      CHECK(missing.error() == std::errc::no_such_file_or_directory);
      CHECK_THROWS_WITH_AS(static_cast<void>(std::move(missing).value()),
                           "an open of no/such/file: No such file or directory", std::system_error);

      io::file full = WAIT(files.open("/dev/full", O_WRONLY)).value();
      auto written = WAIT(full.write_all(io::buffer(100), 0));
      CHECK(written.error() == std::errc::no_space_on_device);
      CHECK(written.reached() == 0);
      CHECK_THROWS_WITH_AS(static_cast<void>(std::move(written).value()),
                           "a write of /dev/full: No space left on device", std::system_error);
    });
    s.run();
  });
}

TEST_CASE(KIND "write_all reports how far it came before the error") {
  // A file that may not grow stands for a full disk: the write is short, the next one fails.
  const auto handler_before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  over_every_mechanism([&before](const io::service_options& options) {
    const temporary_file data;
    rlimit small = before;
    small.rlim_cur = 1000;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    scheduler s;
    const io::service files(s, options);
    s.spawn(BODY(&) {
      io::file f = WAIT(files.open(data.path(), O_WRONLY)).value();
      CHECK(WAIT(f.write(io::buffer(600), 700)).value() == 300);
      auto written = WAIT(f.write_all(io::buffer(600), 700));
      CHECK(written.error() == std::errc::file_too_large);
      CHECK(written.reached() == 300);
    });
    s.run();
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  });
  std::signal(SIGXFSZ, handler_before);
}

TEST_CASE(KIND "a closed file refuses everything, whoever holds it") {
  over_every_mechanism([](const io::service_options& options) {
    const temporary_file data("text");
    scheduler s;
    const io::service files(s, options);
    s.spawn(BODY(&) {
      const io::file f = WAIT(files.open(data.path(), O_RDONLY)).value();
      const io::file same = f;
      const int fd = f.fd();
      WAIT(f.close()).value();
      CHECK_FALSE(is_open(fd));
      CHECK(f.fd() == -1);
      CHECK(WAIT(same.read(io::buffer(4), 0)).error() == std::errc::bad_file_descriptor);
      CHECK(WAIT(same.close()).error() == std::errc::bad_file_descriptor);
      CHECK(WAIT(io::file().fsync()).error() == std::errc::bad_file_descriptor);
      int dropped = -1;
      {
        const io::file other = WAIT(files.open(data.path(), O_RDONLY)).value();
        dropped = other.fd();
        CHECK(is_open(dropped));
      }
      CHECK_FALSE(is_open(dropped));
    });
    s.run();
  });
}

TEST_CASE(KIND "many strands read one file, more than the kernel is handed at once") {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += std::to_string(i % 10);
  over_every_mechanism([&text](const io::service_options& options) {
    const temporary_file data(text);
    under_policies(5, [&](const scheduler_options& policy) {
      scheduler s(policy);
      const io::service files(s, options);
      int right = 0;
      s.spawn(BODY(&) {
        const io::file f = WAIT(files.open(data.path(), O_RDONLY)).value();
        std::vector<strand<>> readers;
        for (std::size_t i = 0; i < 100; ++i) {
          readers.push_back(s.spawn(BODY(&, i) {
            const io::buffer part(40);
            for (std::size_t round = 0; round < 3; ++round) {
              const std::size_t at = (i + 7 * round) % 100 * 40;
              const std::size_t count = WAIT(f.read(part, at)).value();
              right += part.text(count) == text.substr(at, 40) ? 1 : 0;
            }
          }));
        }
        for (auto& each : readers) WAIT(each.join());
      });
      s.run();
      CHECK(right == 300);
    });
  });
}
