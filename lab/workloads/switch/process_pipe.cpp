#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "workloads/switch/processes.hpp"

namespace heddle::lab::switching {
namespace {

// A pipe for each process, which is blocked reading it; a byte is the right to run.
class ring {
 public:
  explicit ring(int processes) : pipes_(static_cast<std::size_t>(processes), {-1, -1}) {
    std::signal(SIGPIPE, SIG_IGN);  // a dead neighbour is an error of write
    for (auto& each : pipes_) {
      if (pipe2(each.data(), O_CLOEXEC) != 0) {
        const int error = errno;
        close_except(-1, -1);
        throw std::system_error(
            error, std::generic_category(),
            "no pipe for each process (see `ulimit -n`, or use fewer contexts)");
      }
    }
  }
  ~ring() { close_except(-1, -1); }
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;

  // Keeps strand `self`'s two ends only, so that the death of a neighbour is an end of file.
  void become(std::size_t self) {
    in_ = pipes_[self][0];
    out_ = pipes_[(self + 1) % pipes_.size()][1];
    close_except(in_, out_);
  }

  bool wait() const {
    char byte = 0;
    return read(in_, &byte, 1) == 1;
  }
  bool hand_over() const { return write(out_, "", 1) == 1; }

 private:
  void close_except(int in, int out) {
    for (auto& ends : pipes_) {
      for (int& end : ends) {
        if (end < 0 || end == in || end == out) continue;
        close(end);
        end = -1;
      }
    }
  }

  std::vector<std::array<int, 2>> pipes_;
  int in_ = -1;
  int out_ = -1;
};

const model<problem> process_pipe{"process/pipe", &processes<ring>::run};

}  // namespace
}  // namespace heddle::lab::switching
