#include <doctest/doctest.h>
#include <unistd.h>

#include <vector>

#include "workloads/io/workload.hpp"

namespace heddle::lab::io_oracle_test {

// Three tasks that read two blocks once each; `change` does something to the last one's.
template <class Change>
verdict run(Change change) {
  const parameters values(io::problem::declare());
  io::problem work(values.with("tasks", 3).with("kilobytes", 8));
  for (int task = 0; task < 3; ++task) {
    std::vector<std::uint64_t> buffer(work.bytes() / sizeof(std::uint64_t));
    work.spoil(buffer.data());
    const int fd = work.open();
    auto bytes = static_cast<std::int64_t>(pread(fd, buffer.data(), work.bytes(), 0));
    close(fd);
    if (task == 2) change(work, buffer, bytes);
    work.took(bytes, buffer.data());
  }
  return work.check();
}

using buffer = std::vector<std::uint64_t>;

TEST_CASE("the oracle of reading tasks wants each file whole, and read") {
  CHECK(run([](io::problem&, buffer&, std::int64_t&) {}).ok);
  CHECK_FALSE(run([](io::problem&, buffer&, std::int64_t& bytes) { bytes -= 1; }).ok);
  CHECK_FALSE(run([](io::problem&, buffer&, std::int64_t& bytes) { bytes = -1; }).ok);
  CHECK_FALSE(run([](io::problem&, buffer& words, std::int64_t&) { ++words.back(); }).ok);
  CHECK_FALSE(run([](io::problem&, buffer& words, std::int64_t&) { ++words.front(); }).ok);
  // Nothing was read: the count is right, the buffer still spoilt.
  CHECK_FALSE(
      run([](io::problem& work, buffer& words, std::int64_t&) { work.spoil(words.data()); }).ok);
  // A task that never read.
  CHECK_FALSE(run([](io::problem& work, buffer&, std::int64_t&) { work.forget(); }).ok);
}

TEST_CASE("the buffers of reading tasks take at most the memory that they may") {
  const auto tasks = [](std::int64_t kilobytes, std::int64_t megabytes) {
    const parameters values(io::problem::declare());
    return io::problem(values.with("kilobytes", kilobytes).with("megabytes", megabytes)).tasks();
  };
  CHECK(tasks(4, 512) == 1000);
  CHECK(tasks(1024, 512) == 512);
  CHECK(tasks(2048, 512) == 256);
  CHECK(tasks(2048, 1) == 1);
}

}  // namespace heddle::lab::io_oracle_test
