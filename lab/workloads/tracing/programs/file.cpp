// The article's file operations (3.2.3): random reads, writes and searches of simple text on the
// only fstream, divided equally among threads, a lock round each operation.
//
// Two runs must make the same calls, whichever thread is first. So each thread reads and writes
// lines of its own, all of one length, and a search ends at a word that only its thread writes.
#include <unistd.h>

#include <fstream>
#include <mutex>
#include <random>
#include <string>

#include "teams.h"

namespace models {

constexpr int threads = 4;
constexpr int lines = 8;       // of each thread
constexpr int operations = 6;  // of each thread and round
constexpr int line_bytes = 32;

struct text_file {
  std::mutex mutex;
  std::fstream stream;
  long rounds = 0;
};

std::string text_of(int line) {
  std::string text = "line " + std::to_string(1000 + line) + " of simple text";
  text.resize(line_bytes - 1, '.');
  return text + "\n";
}

void write_line(text_file& file, int line) {
  const std::lock_guard<std::mutex> lock(file.mutex);
  file.stream.seekp(line * line_bytes);
  file.stream << text_of(line);
  file.stream.flush();
}

std::string read_line(text_file& file, int line) {
  const std::lock_guard<std::mutex> lock(file.mutex);
  std::string text;
  file.stream.seekg(line * line_bytes);
  std::getline(file.stream, text);
  return text;
}

int search(text_file& file, const std::string& word) {
  const std::lock_guard<std::mutex> lock(file.mutex);
  std::string text;
  file.stream.seekg(0);
  for (int line = 0; std::getline(file.stream, text); ++line) {
    if (text.find(word) != std::string::npos) return line;
  }
  file.stream.clear();
  return -1;
}

std::uint64_t execute(text_file& file, int thread, long round) {
  std::minstd_rand random(static_cast<unsigned>(1 + thread + threads * round));
  std::uint64_t sum = 0;
  for (int i = 0; i < operations; ++i) {
    const int line = thread * lines + static_cast<int>(random() % lines);
    switch (random() % 3) {
      case 0:
        sum += read_line(file, line).size();
        break;
      case 1:
        write_line(file, line);
        break;
      default:
        sum += static_cast<std::uint64_t>(search(file, std::to_string(1000 + line)));
    }
  }
  return sum;
}

std::uint64_t run(text_file& file, int thread) {
  std::uint64_t sum = 0;
  for (long i = 0; i < file.rounds; ++i) sum += execute(file, thread, i);
  return sum;
}

void open(text_file& file, const std::string& path, long rounds) {
  file.stream.open(path, std::ios::in | std::ios::out | std::ios::trunc);
  file.rounds = rounds;
  for (int line = 0; line < threads * lines; ++line) write_line(file, line);
}

}  // namespace models

// Not recorded itself: all recorded calls are those in the namespace, and what these call.
__attribute__((no_instrument_function)) uint64_t work(long rounds) {
  const char* const directory = std::getenv("HEDDLE_SCRATCH");
  std::string path = std::string(directory != nullptr ? directory : "/tmp") + "/heddle-lab-XXXXXX";
  const int made = mkstemp(path.data());
  if (made < 0) std::abort();
  close(made);
  models::text_file file;
  models::open(file, path, rounds);
  unlink(path.c_str());
  return teams::run(file, models::threads, &models::run);
}
