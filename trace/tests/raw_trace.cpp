#include "raw_trace.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
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

RawThread read_thread(const std::filesystem::path& path) {
  const std::string bytes = contents(path);
  RawThread thread{};
  thread.magic = bytes.substr(0, 8);
  thread.version = at<std::uint32_t>(bytes, 8);
  thread.record_bytes = at<std::uint32_t>(bytes, 12);
  thread.tid = at<std::uint32_t>(bytes, 16);
  thread.flags = at<std::uint32_t>(bytes, 20);
  thread.reserved = at<std::uint64_t>(bytes, 24);
  thread.dropped = at<std::uint64_t>(bytes, 32);
  thread.stack_low = at<std::uint64_t>(bytes, 40);
  thread.stack_high = at<std::uint64_t>(bytes, 48);
  thread.first_ticks = at<std::uint64_t>(bytes, 56);
  thread.room = at<std::uint64_t>(bytes, 64);
  thread.name = text_at(bytes, 128, 64);
  for (std::uint64_t i = 0; i < std::min(thread.reserved, thread.room); ++i) {
    const std::size_t offset = 4096 + i * 32;
    const auto when = at<std::uint64_t>(bytes, offset);
    if (when == 0) {
      ++thread.unfilled;
      continue;
    }
    thread.records.push_back(
        {when & ~(1ull << 63), (when >> 63) != 0, at<std::uint64_t>(bytes, offset + 8),
         at<std::uint64_t>(bytes, offset + 16), at<std::uint64_t>(bytes, offset + 24)});
  }
  return thread;
}

std::vector<RawModule> read_modules(const std::filesystem::path& path) {
  std::vector<RawModule> modules;
  std::istringstream lines(contents(path));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    RawModule module{};
    std::string what;
    fields >> what >> module.ticks >> std::hex >> module.start;
    module.load = what == "load";
    if (module.load) {
      fields >> module.end >> module.bias >> module.build_id;
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
  process.thread_files = at<std::uint32_t>(bytes, 128);
  process.dropped = at<std::uint64_t>(bytes, 136);
  process.host = text_at(bytes, 256, 256);
  process.executable = text_at(bytes, 512, 1024);
  process.command_line = bytes.substr(1536, 2560);
  for (std::uint32_t i = 1; i <= process.thread_files; ++i) {
    process.threads.push_back(read_thread(directory / ("thread-" + std::to_string(i))));
  }
  process.modules = read_modules(directory / "modules");
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

std::vector<RawProcess> read_trace(const std::filesystem::path& trace) {
  if (contents(trace / "heddle") != "heddle trace 1\n") throw std::runtime_error("marker");
  std::vector<RawProcess> processes;
  for (const auto& entry : std::filesystem::directory_iterator(trace)) {
    if (entry.is_directory()) processes.push_back(read_process(entry.path()));
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
    } else if (open.empty() || open.back() != record.function) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty();
}
