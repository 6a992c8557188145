#include "workloads/file/positioned_file.hpp"

#include <unistd.h>

namespace heddle::lab::file {

bool positioned_file::read(int id, record& out) const {
  std::string line(record::bytes, '\0');
  const ssize_t got = pread(fd_, line.data(), line.size(), record::offset(id));
  return got == static_cast<ssize_t>(line.size()) && record::parse(line, out) && out.id == id;
}

bool positioned_file::write(const record& wanted) const {
  const std::string line = wanted.line();
  const ssize_t put = pwrite(fd_, line.data(), line.size(), record::offset(wanted.id));
  return put == static_cast<ssize_t>(line.size());
}

int positioned_file::search(int id, int from) const {
  const std::string wanted = record::beginning(id);
  char block[search_bytes];
  for (std::int64_t offset = record::offset(from);;) {
    const ssize_t got = pread(fd_, block, sizeof block, offset);
    if (got <= 0) return -1;
    const int line = find_line({block, static_cast<std::size_t>(got)}, wanted);
    if (line >= 0) return static_cast<int>(offset / record::offset(1)) + line;
    offset += got;
  }
}

}  // namespace heddle::lab::file
