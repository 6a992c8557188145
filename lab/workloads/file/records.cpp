#include "workloads/file/records.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "harness/model.hpp"

namespace heddle::lab::file {
namespace {

std::uint64_t check_of(const record& r) {
  std::uint64_t x = r.version * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(r.id);
  x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCDu;
  return x ^ (x >> 33);
}

constexpr std::size_t lines_a_block = 10'000;

}  // namespace

// A large file has millions of them: snprintf() would take longer than the disk.
std::string record::line() const {
  std::string line;
  line.reserve(bytes);
  const auto add = [&line](std::string_view name, std::uint64_t value, int base,
                           std::size_t digits) {
    char text[20];
    const auto* const end = std::to_chars(text, text + sizeof text, value, base).ptr;
    const auto size = static_cast<std::size_t>(end - text);
    line.append(name)
        .append(digits - std::min(digits, size), '0')
        .append(text, size)
        .push_back(' ');
  };
  add("record ", static_cast<std::uint64_t>(id), 10, 6);
  add("version ", version, 10, 10);
  add("check ", check_of(*this), 16, 16);
  line.resize(bytes - 1, '.');
  line.push_back('\n');
  return line;
}

bool record::parse(const std::string& line, record& out) {
  record read;
  if (std::sscanf(line.c_str(), "record %d version %" SCNu64, &read.id, &read.version) != 2) {
    return false;
  }
  if (line != read.line()) return false;
  out = read;
  return true;
}

std::string record::beginning(int id) {
  char text[32];
  const int length = std::snprintf(text, sizeof text, "record %06d ", id);
  return {text, static_cast<std::size_t>(length)};
}

int find_line(std::string_view text, std::string_view wanted) {
  for (int number = 0; !text.empty(); ++number) {
    if (text.starts_with(wanted)) return number;
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return -1;
}

record_file::record_file(int count) : count_(count) {
  const char* directory = std::getenv("TMPDIR");
  std::string path = std::string(directory == nullptr || *directory == '\0' ? "/tmp" : directory) +
                     "/heddle-file-XXXXXX";
  fd_ = mkostemp(path.data(), O_CLOEXEC);
  if (fd_ < 0) {
    throw std::runtime_error("cannot make a file " + path + ": " + std::strerror(errno) +
                             " (set TMPDIR to a directory that can be written)");
  }
  stream_.open(path, std::ios::in | std::ios::out | std::ios::binary | std::ios::trunc);
  const bool opened = stream_.is_open();
  unlink(path.c_str());
  if (!opened) {
    close(fd_);
    throw std::runtime_error("cannot open " + path);
  }
  if (!write_all()) {
    close(fd_);
    throw std::runtime_error("cannot write " + path + ": is the disk full?");
  }
}

record_file::~record_file() { close(fd_); }

bool record_file::write_all() const {
  std::string block;
  for (int id = 0; id < count_; ++id) {
    block += record{id, 0}.line();
    if (block.size() < lines_a_block * record::bytes && id + 1 < count_) continue;
    if (::write(fd_, block.data(), block.size()) != static_cast<ssize_t>(block.size())) {
      return false;
    }
    block.clear();
  }
  return true;
}

void record_file::forget_cached() {
  struct statfs system = {};
  if (fstatfs(fd_, &system) == 0 && system.f_type == TMPFS_MAGIC) {
    throw cannot_run("the file would be in memory: set TMPDIR to a directory on a disk");
  }
  stream_.flush();
  // The kernel forgets only what it has written.
  if (fdatasync(fd_) != 0 || posix_fadvise(fd_, 0, 0, POSIX_FADV_DONTNEED) != 0) {
    throw cannot_run(
        "the file cannot be brought out of memory: set TMPDIR to a directory on a disk");
  }
}

void record_file::for_each_line(const std::function<void(int, std::string_view)>& seen) {
  stream_.flush();
  std::string block(lines_a_block * record::bytes, '\0');
  for (int id = 0; id < count_;) {
    const ssize_t got = pread(fd_, block.data(), block.size(), record::offset(id));
    const std::string_view text(block.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    for (std::size_t at = 0; at < block.size() && id < count_; at += record::bytes, ++id) {
      seen(id, at < text.size() ? text.substr(at, record::bytes) : std::string_view());
    }
  }
}

bool record_file::read(int id, record& out) {
  std::string line(record::bytes, '\0');
  stream_.seekg(record::offset(id));
  stream_.read(line.data(), static_cast<std::streamsize>(line.size()));
  if (!stream_) {
    stream_.clear();
    return false;
  }
  return record::parse(line, out) && out.id == id;
}

bool record_file::write(const record& wanted) {
  const std::string line = wanted.line();
  stream_.seekp(record::offset(wanted.id));
  stream_.write(line.data(), static_cast<std::streamsize>(line.size()));
  if (stream_) return true;
  stream_.clear();
  return false;
}

int record_file::search(int id, int from) {
  const std::string wanted = record::beginning(id);
  stream_.seekg(record::offset(from));
  std::string line;
  for (int number = from; std::getline(stream_, line); ++number) {
    if (line.starts_with(wanted)) return number;
  }
  stream_.clear();
  return -1;
}

}  // namespace heddle::lab::file
