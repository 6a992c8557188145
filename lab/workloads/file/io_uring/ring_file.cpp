#include "workloads/file/io_uring/ring_file.hpp"

#include <cerrno>
#include <system_error>

#include "harness/model.hpp"

namespace heddle::lab::file {

ring_file::ring_file(int fd) : fd_(fd) {
  // The cheapest set-up there is for one thread, from 6.1 on.
  int error =
      io_uring_queue_init(1, &ring_, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
  if (error == -EINVAL) error = io_uring_queue_init(1, &ring_, 0);
  if (error < 0) {
    throw cannot_run(
        std::system_error(-error, std::generic_category(), "io_uring_setup(2)").what());
  }
}

int ring_file::complete() {
  int submitted = 0;
  do {
    submitted = io_uring_submit_and_wait(&ring_, 1);
  } while (submitted == -EINTR);
  if (submitted < 0) return submitted;
  io_uring_cqe* over = nullptr;
  const int error = io_uring_wait_cqe(&ring_, &over);
  if (error < 0) return error;
  const int result = over->res;
  io_uring_cqe_seen(&ring_, over);
  return result;
}

bool ring_file::read(int id, record& out) {
  std::string line(record::bytes, '\0');
  io_uring_prep_read(io_uring_get_sqe(&ring_), fd_, line.data(), record::bytes,
                     static_cast<std::uint64_t>(record::offset(id)));
  return complete() == static_cast<int>(record::bytes) && record::parse(line, out) && out.id == id;
}

bool ring_file::write(const record& wanted) {
  const std::string line = wanted.line();
  io_uring_prep_write(io_uring_get_sqe(&ring_), fd_, line.data(), record::bytes,
                      static_cast<std::uint64_t>(record::offset(wanted.id)));
  return complete() == static_cast<int>(record::bytes);
}

int ring_file::search(int id, int from) {
  const std::string wanted = record::beginning(id);
  char block[search_bytes];
  for (std::int64_t offset = record::offset(from);;) {
    io_uring_prep_read(io_uring_get_sqe(&ring_), fd_, block, sizeof block,
                       static_cast<std::uint64_t>(offset));
    const int got = complete();
    if (got <= 0) return -1;
    const int line = find_line({block, static_cast<std::size_t>(got)}, wanted);
    if (line >= 0) return static_cast<int>(offset / record::offset(1)) + line;
    offset += got;
  }
}

}  // namespace heddle::lab::file
