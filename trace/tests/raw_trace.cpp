#include "raw_trace.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

template <typename Integer>
Integer at(const std::string& bytes, std::size_t offset) {
  Integer value;
  if (offset + sizeof value > bytes.size()) throw std::runtime_error("file too short");
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string text_at(const std::string& bytes, std::size_t offset, std::size_t room) {
  const std::string field = bytes.substr(offset, room);
  return field.substr(0, field.find('\0'));
}

struct Block {
  std::uint64_t number;
  std::string bytes;  ///< what is used of it
};

void add_blocks(const std::string& events, std::vector<Block>& blocks) {
  for (std::size_t at_byte = 0; at_byte + 64 <= events.size();) {
    if (events.substr(at_byte, 8) != "HEDLBLCK") {
      at_byte += 4096;
      continue;
    }
    const auto used = at<std::uint32_t>(events, at_byte + 12);
    blocks.push_back({at<std::uint64_t>(events, at_byte + 16), events.substr(at_byte, used)});
    at_byte += at<std::uint32_t>(events, at_byte + 8);
  }
}

/// Adds the blocks of `events` and of each thread's `events-N`.
void add_events(const std::filesystem::path& process, std::vector<Block>& blocks) {
  for (const auto& entry : std::filesystem::directory_iterator(process)) {
    if (entry.path().filename().string().starts_with("events")) {
      add_blocks(contents(entry.path()), blocks);
    }
  }
}

/// The number of the thread whose run is the last; 0 if there is none.
std::uint32_t add_buffer(const std::string& bytes, std::vector<Block>& blocks) {
  if (bytes.substr(0, 8) != "HEDLBUFR") throw std::runtime_error("buffer: magic");
  const auto address = at<std::uint64_t>(bytes, 16), position = at<std::uint64_t>(bytes, 64);
  std::uint64_t newest = 0;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < at<std::uint32_t>(bytes, 12); ++i) {
    const auto state = at<std::uint32_t>(bytes, 2048 + 16 * i);
    const std::uint64_t start = 4096 + (std::uint64_t{i} << 20);
    std::uint64_t used = at<std::uint32_t>(bytes, 2052 + 16 * i);
    if (state == 0) continue;
    const std::uint64_t begin = address + start;
    if (state == 1) {
      used = position >= begin && position <= begin + (1 << 20) ? position - begin : 0;
    }
    if (used <= 64) continue;
    Block block{at<std::uint64_t>(bytes, start + 16), bytes.substr(start, used)};
    if (block.number >= newest) {
      newest = block.number;
      for (std::size_t w = 64; w < used;) {
        const auto word = at<std::uint64_t>(block.bytes, w);
        if ((word & 0xffff) == 0x10) last = at<std::uint32_t>(block.bytes, w + 8);
        w += (word & 8) != 0 ? ((word & 1) != 0 ? 8 : 16) : 8 * (word >> 16 & 0xffff);
      }
    }
    std::erase_if(blocks, [&](const Block& other) { return other.number == block.number; });
    blocks.push_back(block);
  }
  return last;
}

/// Whether a module that was loaded by then was still there.
bool is_loaded(const RawProcess& process, const RawModule& module, std::uint64_t ticks) {
  for (auto later = &module + 1; later != process.modules.data() + process.modules.size();
       ++later) {
    if (!later->load && later->start == module.start) return later->ticks > ticks;
  }
  return true;
}

std::uint64_t completed(const RawProcess& process, std::uint64_t low, std::uint64_t ticks) {
  for (const RawModule& module : process.modules) {
    const std::uint64_t address =
        module.text_start + static_cast<std::uint32_t>(low - module.text_start);
    if (module.load && module.ticks <= ticks && address < module.text_end &&
        is_loaded(process, module, ticks)) {
      return address;
    }
  }
  return low;
}

/// The records of one run, up to the end or the next run.
std::size_t add_run(const RawProcess& process, const std::string& bytes, std::size_t w,
                    RawThread& thread) {
  std::uint64_t ticks = at<std::uint64_t>(bytes, w + 16), stack = at<std::uint64_t>(bytes, w + 24);
  thread.tid = at<std::uint32_t>(bytes, w + 32);
  thread.flags = at<std::uint32_t>(bytes, w + 36) & 1;
  thread.made_by = at<std::uint32_t>(bytes, w + 36) >> 1;
  thread.stack_low = at<std::uint64_t>(bytes, w + 40);
  thread.stack_high = at<std::uint64_t>(bytes, w + 48);
  thread.first_ticks = at<std::uint64_t>(bytes, w + 56);
  thread.name = text_at(bytes, w + 64, 64);
  const std::uint64_t length = at<std::uint32_t>(bytes, w + 4);
  const std::size_t end = length == 0 ? bytes.size() : w + length;
  std::uint64_t before = ticks;
  for (w += 128; w < end;) {
    const auto word = at<std::uint64_t>(bytes, w);
    if ((word & 8) != 0) {
      // One that did not read the clock is given the time of the one before it.
      const bool untimed = (word & 4) != 0;
      const std::uint64_t when = untimed ? before : ticks >> 26 << 26 | word >> 38;
      before = when;
      const std::uint64_t pointer = stack + 8 * (word >> 4 & 0x3fffff);
      const bool exit = (word & 1) != 0, entry = (word & 2) != 0;
      if (exit) {
        thread.records.push_back(
            {when, true, entry, (word >> 26 & 0x7ff) << 4, 0, pointer, untimed});
      } else {
        const auto ids = at<std::uint64_t>(bytes, w + 8);
        thread.records.push_back({when, false, entry, completed(process, ids >> 32, when),
                                  completed(process, ids & 0xffffffff, when), pointer, untimed});
      }
      w += exit ? 8 : 16;
      continue;
    }
    const auto field = [&](std::size_t i) { return at<std::uint64_t>(bytes, w + 8 * i); };
    const auto type = word >> 4 & 0xfff;
    if (type == 1) break;
    if (type == 2) {
      ++thread.bases;
      ticks = field(1);
      stack = field(2);
    } else if (type == 3 || type == 4) {
      ++thread.wides;
      thread.records.push_back(
          {field(1), type == 4, word >> 32 == 1, field(3), type == 3 ? field(4) : 0, field(2)});
    } else if (type == 10) {
      thread.notes.push_back({type, word >> 32, 0, field(1), "", thread.records.size()});
    } else if ((type >= 5 && type <= 9) || type == 11 || type == 15 || type == 17 || type == 18) {
      const bool texts = type == 6 || type == 8 || type == 9;
      thread.notes.push_back({type, word >> 32, field(1), field(2),
                              texts ? bytes.substr(w + 24, word >> 32) : "",
                              thread.records.size()});
    } else {
      throw std::runtime_error("a record of type " + std::to_string(type));
    }
    w += 8 * (word >> 16 & 0xffff);
  }
  return end;
}

void add_threads(RawProcess& process) {
  std::vector<Block> blocks;
  add_events(process.directory, blocks);
  std::map<std::uint32_t, std::uint64_t> dropped;
  for (std::uint32_t i = 1; i <= process.buffers; ++i) {
    const std::string bytes = contents(process.directory / ("buffer-" + std::to_string(i)));
    const std::uint32_t last = add_buffer(bytes, blocks);
    dropped[last] += at<std::uint64_t>(bytes, 24);
    if (last != 0 && last != at<std::uint32_t>(bytes, 32)) throw std::runtime_error("whose buffer");
  }
  struct Place {
    std::uint32_t thread, run;
    const Block* block;
    std::size_t word;
    bool operator<(const Place& other) const {
      return std::pair(thread, run) < std::pair(other.thread, other.run);
    }
  };
  std::vector<Place> runs;
  for (const Block& block : blocks) {
    for (std::size_t w = 64; w < block.bytes.size();) {
      if ((at<std::uint64_t>(block.bytes, w) & 0xffff) != 0x10) throw std::runtime_error("no run");
      runs.push_back({at<std::uint32_t>(block.bytes, w + 8), at<std::uint32_t>(block.bytes, w + 12),
                      &block, w});
      const auto length = at<std::uint32_t>(block.bytes, w + 4);
      w = length == 0 ? block.bytes.size() : w + length;
    }
  }
  std::sort(runs.begin(), runs.end());
  std::uint32_t number = 0, run = 0;
  for (const Place& place : runs) {
    if (place.thread != number) {
      process.threads.emplace_back();
      process.threads.back().number = place.thread;
      process.threads.back().dropped = dropped[place.thread];
      number = place.thread;
      run = 0;
    }
    if (place.run != ++run && process.flight == 0) throw std::runtime_error("a run is missing");
    add_run(process, place.block->bytes, place.word, process.threads.back());
  }
}

/// CRC-32, bit by bit: not as the recorder reckons it.
std::uint32_t crc32(const std::string& text) {
  std::uint32_t value = ~std::uint32_t{0};
  for (const char c : text) {
    value ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value % 2 != 0 ? 0xedb88320 : 0);
  }
  return ~value;
}

std::vector<RawModule> read_modules(const std::filesystem::path& path, std::uint64_t first) {
  std::vector<RawModule> modules;
  auto expected = static_cast<std::uint32_t>(first);
  std::istringstream lines(contents(path));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    RawModule module{};
    std::string what;
    std::uint32_t sum, before;
    fields >> std::hex >> sum >> before >> std::dec;
    if (line.find(' ') != 8 || line.find(' ', 9) != 17 || sum != crc32(line.substr(9)) ||
        before != expected) {
      throw std::runtime_error("modules: the sums of " + line);
    }
    expected = sum;
    fields >> what >> module.ticks >> std::hex >> module.start;
    module.load = what == "load";
    if (module.load) {
      fields >> module.end >> module.text_start >> module.text_end >> module.bias >>
          module.build_id;
      fields.ignore(1);
      std::getline(fields, module.path);
    } else if (what != "unload") {
      throw std::runtime_error("modules: " + line);
    }
    if (fields.fail()) throw std::runtime_error("modules: " + line);
    modules.push_back(module);
  }
  return modules;
}

RawProcess read_process(const std::filesystem::path& directory) {
  const std::string bytes = contents(directory / "process");
  if (bytes.size() != 4096) throw std::runtime_error("process: not 4096 bytes");
  RawProcess process{};
  process.directory = directory;
  process.magic = bytes.substr(0, 8);
  process.version = at<std::uint32_t>(bytes, 8);
  process.flags = at<std::uint32_t>(bytes, 12);
  process.pid = at<std::uint32_t>(bytes, 16);
  process.parent = at<std::uint32_t>(bytes, 20);
  process.clock = at<std::uint32_t>(bytes, 24);
  process.latest_stamps = at<std::uint32_t>(bytes, 28);
  process.first_ticks = at<std::uint64_t>(bytes, 40);
  process.first_realtime_ns = at<std::uint64_t>(bytes, 48);
  process.latest_ticks[0] = at<std::uint64_t>(bytes, 64);
  process.latest_ticks[1] = at<std::uint64_t>(bytes, 88);
  process.thread_count = at<std::uint32_t>(bytes, 128);
  process.buffers = at<std::uint32_t>(bytes, 132);
  process.flight = at<std::uint64_t>(bytes, 152);
  process.fork_image = at<std::uint64_t>(bytes, 168);
  process.fork_pid = at<std::uint32_t>(bytes, 176);
  process.fork_thread = at<std::uint32_t>(bytes, 180);
  process.fork_making = at<std::uint32_t>(bytes, 184);
  process.module_bytes = at<std::uint32_t>(bytes, 204);
  process.trouble = at<std::uint32_t>(bytes, 164);
  process.unplanned = at<std::uint32_t>(bytes, 240);
  process.wanted_of_plan = at<std::uint32_t>(bytes, 244);
  process.flight_trouble = at<std::uint32_t>(bytes, 248);
  if (process.latest_stamps > 0) {
    const std::size_t latest = 64 + 24 * ((process.latest_stamps - 1) % 2);
    const auto passed = [&](std::size_t offset) {
      return static_cast<double>(at<std::uint64_t>(bytes, latest + offset) -
                                 at<std::uint64_t>(bytes, 40 + offset));
    };
    process.ticks_per_ns = passed(0) / passed(16);
  }
  process.dropped = at<std::uint64_t>(bytes, 136);
  process.host = text_at(bytes, 256, 256);
  process.executable = text_at(bytes, 512, 1024);
  process.command_line = bytes.substr(1536, 2560);
  process.modules = read_modules(directory / "modules", process.first_ticks);
  add_threads(process);
  return process;
}

}  // namespace

std::uint64_t RawThread::enters() const {
  return static_cast<std::uint64_t>(
      std::count_if(records.begin(), records.end(), [](const RawRecord& r) { return !r.exit; }));
}

std::uint64_t RawProcess::enters() const {
  std::uint64_t sum = 0;
  for (const RawThread& thread : threads) sum += thread.enters();
  return sum;
}

std::uint64_t RawProcess::events() const {
  std::uint64_t sum = 0;
  for (const RawThread& thread : threads) sum += thread.records.size();
  return sum;
}

std::uint64_t RawProcess::all_dropped() const {
  std::uint64_t sum = dropped;
  for (const RawThread& thread : threads) sum += thread.dropped;
  return sum;
}

const RawModule* RawProcess::module_of(std::uint64_t address, std::uint64_t ticks) const {
  const RawModule* found = nullptr;
  for (const RawModule& module : modules) {
    if (module.ticks > ticks) continue;
    if (module.load && address >= module.start && address < module.end) found = &module;
    if (!module.load && found != nullptr && module.start == found->start) found = nullptr;
  }
  return found;
}

std::uint64_t block_bytes(const std::filesystem::path& process) {
  std::vector<Block> blocks;
  add_events(process, blocks);
  for (const auto& entry : std::filesystem::directory_iterator(process)) {
    if (entry.path().filename().string().starts_with("buffer-")) {
      add_buffer(contents(entry.path()), blocks);
    }
  }
  std::uint64_t sum = 0;
  for (const Block& block : blocks) sum += block.bytes.size();
  return sum;
}

std::vector<RawProcess> read_trace(const std::filesystem::path& trace) {
  if (contents(trace / "heddle") != "heddle trace 5\n") throw std::runtime_error("marker");
  std::vector<RawProcess> processes;
  for (const auto& entry : std::filesystem::directory_iterator(trace)) {
    const bool snapshot = entry.path().filename().string().starts_with("snapshot-");
    if (entry.is_directory() && !snapshot) processes.push_back(read_process(entry.path()));
  }
  std::sort(processes.begin(), processes.end(),
            [](const RawProcess& a, const RawProcess& b) { return a.directory < b.directory; });
  return processes;
}

bool well_nested(const RawThread& thread) {
  std::vector<std::uint64_t> open;
  for (const RawRecord& record : thread.records) {
    if (!record.exit) {
      open.push_back(record.function);
    } else if (open.empty() ||
               (!record.entry_way && ((open.back() ^ record.function) & 0x7ff0) != 0)) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty();
}
