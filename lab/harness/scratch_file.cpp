#include "harness/scratch_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
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
  path_ = std::string(directory != nullptr ? directory : ".") + "/heddle-io.XXXXXX";
  const int fd = mkostemp(path_.data(), O_CLOEXEC);
  if (fd < 0) throw failure("no file can be made in the current directory, or TMPDIR");
  try {
    write_blocks(fd, blocks, fill);
  } catch (...) {
    close(fd);
    unlink(path_.c_str());
    throw;
  }
  close(fd);
}

scratch_file::~scratch_file() { unlink(path_.c_str()); }

int scratch_file::open(bool direct) const {
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | (direct ? O_DIRECT : 0));
  if (fd >= 0) return fd;
  if (direct && errno == EINVAL) {
    throw cannot_run("no O_DIRECT on this file system: set TMPDIR to one on a disk");
  }
  throw failure(path_);
}

}  // namespace heddle::lab
