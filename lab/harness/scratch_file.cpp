#include "harness/scratch_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include "harness/model.hpp"

namespace heddle::lab {
namespace {

std::system_error failure(const std::string& what) {
  return {errno, std::generic_category(), what};
}

void write_blocks(int fd, std::uint64_t blocks, const scratch_file::filler& fill) {
  std::vector<std::uint64_t> block(scratch_file::block_words);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    fill(i, block.data());
    const ssize_t written = write(fd, block.data(), scratch_file::block_bytes);
    if (written != static_cast<ssize_t>(scratch_file::block_bytes)) {
      throw failure("the file of the test could not be written");
    }
  }
  fsync(fd);  // so that nothing is written back while reads are timed
}

}  // namespace

scratch_file::scratch_file(std::uint64_t blocks, const filler& fill) {
  const char* const directory = std::getenv("TMPDIR");
  std::string path = std::string(directory != nullptr ? directory : ".") + "/heddle-io.XXXXXX";
  fd_ = mkostemp(path.data(), O_CLOEXEC);
  if (fd_ < 0) throw failure("no file can be made in the current directory, or TMPDIR");
  unlink(path.c_str());
  try {
    write_blocks(fd_, blocks, fill);
  } catch (...) {
    close(fd_);
    throw;
  }
}

scratch_file::~scratch_file() { close(fd_); }

int scratch_file::open(bool direct) const {
  const std::string name = "/proc/self/fd/" + std::to_string(fd_);
  const int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | (direct ? O_DIRECT : 0));
  if (fd >= 0) return fd;
  if (direct && errno == EINVAL) {
    throw cannot_run("no O_DIRECT on this file system: set TMPDIR to one on a disk");
  }
  throw failure("the file of the test could not be opened by " + name);
}

}  // namespace heddle::lab
