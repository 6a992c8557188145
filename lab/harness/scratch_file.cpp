#include "harness/scratch_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include "harness/model.hpp"
#include "harness/throw_errno.hpp"

namespace heddle::lab {
namespace {

void write_blocks(int fd, std::uint64_t blocks, const scratch_file::filler& fill) {
  std::vector<std::uint64_t> block(scratch_file::block_words);
  for (std::uint64_t i = 0; i < blocks; ++i) {
    fill(i, block.data());
    const ssize_t written = write(fd, block.data(), scratch_file::block_bytes);
    if (written != static_cast<ssize_t>(scratch_file::block_bytes)) {
      throw_errno("the file of the test could not be written");
    }
  }
  fsync(fd);  // so that nothing is written back while reads are timed
}

int nameless(const std::string& directory) {
  std::string path = directory + "/heddle-io.XXXXXX";
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd >= 0) unlink(path.c_str());
  return fd;
}

// In TMPDIR; or in the current directory; or, where that is another user's, in /var/tmp, which is
// on a disk, as /tmp may not be.
int nameless() {
  const char* const chosen = std::getenv("TMPDIR");
  if (chosen != nullptr) {
    const int fd = nameless(std::string(chosen));
    if (fd < 0) throw_errno(("no file can be made in TMPDIR, " + std::string(chosen)).c_str());
    return fd;
  }
  int fd = nameless(".");
  if (fd < 0) fd = nameless("/var/tmp");
  if (fd < 0) throw_errno("no file can be made here or in /var/tmp: set TMPDIR");
  return fd;
}

}  // namespace

scratch_file::scratch_file(std::uint64_t blocks, const filler& fill) : fd_(nameless()) {
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
  throw_errno(("the file of the test could not be opened by " + name).c_str());
}

}  // namespace heddle::lab
