#include "workloads/file/records.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace heddle::lab::file {
namespace {

std::uint64_t check_of(const record& r) {
  std::uint64_t x = r.version * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(r.id);
  x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCDu;
  return x ^ (x >> 33);
}

}  // namespace

std::string record::line() const {
  char text[bytes + 1];
  const int length =
      std::snprintf(text, sizeof text, "record %06d version %010" PRIu64 " check %016" PRIx64 " ",
                    id, version, check_of(*this));
  std::string line(text, static_cast<std::size_t>(length));
  line.resize(bytes - 1, '.');
  return line + '\n';
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
  for (int id = 0; id < count; ++id) stream_ << record{id, 0}.line();
  stream_.flush();
  if (!stream_) {
    close(fd_);
    throw std::runtime_error("cannot write " + path + ": is the disk full?");
  }
}

record_file::~record_file() { close(fd_); }

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

int record_file::search(int id) {
  const std::string wanted = record::beginning(id);
  stream_.seekg(0);
  std::string line;
  for (int number = 0; std::getline(stream_, line); ++number) {
    if (line.starts_with(wanted)) return number;
  }
  stream_.clear();
  return -1;
}

}  // namespace heddle::lab::file
