#include "harness/code_places.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <utility>

#include "harness/in_path.hpp"
#include "harness/model.hpp"
#include "harness/throw_errno.hpp"

namespace heddle::lab {
namespace {

// This program's place in memory: what is added to the addresses in its file, and its code.
struct program_image {
  std::uintptr_t offset = 0;
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> code;  // from, to

  [[nodiscard]] bool holds(std::uintptr_t address) const {
    return std::any_of(code.begin(), code.end(), [address](const auto& each) {
      return each.first <= address && address < each.second;
    });
  }
};

program_image find_program() {
  program_image found;
  // The program comes first.
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        auto& image = *static_cast<program_image*>(to);
        image.offset = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
          const std::uintptr_t from = info->dlpi_addr + segment.p_vaddr;
          image.code.emplace_back(from, from + segment.p_memsz);
        }
        return 1;
      },
      &found);
  return found;
}

std::string hexadecimal(std::uintptr_t number) {
  char text[2 * sizeof number];
  const auto end = std::to_chars(std::begin(text), std::end(text), number, 16);
  return "0x" + std::string(std::begin(text), end.ptr);
}

// A file without a name, for what a command is to read.
class input {
 public:
  explicit input(const std::string& text) : file_(memfd_create("addresses", 0)) {
    if (file_ < 0) throw_errno("memfd_create");
    if (write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      close(file_);
      throw_errno("write to a file in memory");
    }
  }
  ~input() { close(file_); }
  input(const input&) = delete;
  input& operator=(const input&) = delete;

  [[nodiscard]] std::string path() const {
    return own_directory() + "/fd/" + std::to_string(file_);
  }
  static std::string own_directory() { return "/proc/" + std::to_string(getpid()); }

 private:
  int file_;
};

std::string addr2line(const std::string& addresses) {
  if (!in_path("addr2line")) throw cannot_run("addr2line is missing: `apt-get install binutils`");
  const input from(addresses);
  // -a prints each address before its functions.
  const std::string command =
      "addr2line -a -f -i -C -e " + input::own_directory() + "/exe < " + from.path();
  std::FILE* const output = popen(command.c_str(), "r");
  if (output == nullptr) throw_errno("popen");
  std::string text;
  char some[4096];
  for (std::size_t got; (got = std::fread(some, 1, sizeof some, output)) > 0;) {
    text.append(some, got);
  }
  if (pclose(output) != 0) throw std::runtime_error("`" + command + "` failed");
  return text;
}

// Lines of an address, then a function and its source line, each innermost first.
void read_places(const std::string& text, std::uintptr_t offset,
                 std::map<std::uintptr_t, code_place>& into) {
  code_place* place = nullptr;
  bool function = true;
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (line.starts_with("0x")) {
      std::uintptr_t address = 0;
      std::from_chars(line.data() + 2, line.data() + line.size(), address, 16);
      place = &into[address + offset];
      function = true;
      continue;
    }
    if (place != nullptr && function) place->push_back({std::string(line), {}});
    if (place != nullptr && !function) {
      place->back().file = line;
      if (place->back().function == "??") place->pop_back();
    }
    function = !function;
  }
}

}  // namespace

std::map<std::uintptr_t, code_place> places_of(const std::vector<std::uintptr_t>& addresses) {
  const program_image program = find_program();
  std::map<std::uintptr_t, code_place> found;
  std::string own;
  for (const std::uintptr_t address : addresses) {
    if (program.holds(address)) {
      own += hexadecimal(address - program.offset) + '\n';
      continue;
    }
    code_place& place = found[address];
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(address), &info) != 0 && info.dli_sname != nullptr) {
      place.push_back({info.dli_sname, {}});
    }
  }
  if (!own.empty()) read_places(addr2line(own), program.offset, found);
  return found;
}

bool has_debug_information() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const auto read_at = [&file](std::uint64_t at, void* to, std::size_t bytes) {
    file.seekg(static_cast<std::streamoff>(at));
    file.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    return file.good();
  };
  ElfW(Ehdr) header{};
  if (!read_at(0, &header, sizeof header)) return false;
  std::vector<ElfW(Shdr)> sections(header.e_shnum);
  if (!read_at(header.e_shoff, sections.data(), sections.size() * sizeof(ElfW(Shdr)))) return false;
  if (header.e_shstrndx >= sections.size()) return false;
  const ElfW(Shdr)& names = sections[header.e_shstrndx];
  std::string text(names.sh_size, '\0');
  return read_at(names.sh_offset, text.data(), text.size()) &&
         text.find(".debug_info") != std::string::npos;
}

std::string plain_name(std::string_view demangled) {
  constexpr std::string_view word = "operator";
  std::string plain;
  int depth = 0;
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t i = 0; i < demangled.size(); ++i) {
    const char c = demangled[i];
    const std::string_view rest = demangled.substr(i);
    const bool begins = i == 0 || !is_letter(demangled[i - 1]);
    if (depth == 0 && begins && rest.starts_with(word) && rest.size() > word.size() &&
        !is_letter(rest[word.size()])) {
      // The operator's own brackets are none of arguments.
      std::size_t end = word.size();
      if (rest.substr(end).starts_with("()") || rest.substr(end).starts_with("[]")) {
        end += 2;
      } else {
        while (end < rest.size() &&
               std::string_view("<>=!+-*/%&|^~").find(rest[end]) != rest.npos) {
          ++end;
        }
      }
      plain += rest.substr(0, end);
      i += end - 1;
    } else if (c == '<' || c == '(') {
      ++depth;
    } else if ((c == '>' && demangled[i - 1] != '-') || c == ')') {
      depth = std::max(0, depth - 1);
    } else if (depth == 0) {
      plain += c;
    }
  }
  if (const std::size_t clone = plain.find(" [clone"); clone != plain.npos) plain.erase(clone);
  for (const std::string_view suffix : {" ", " &&", " &", " const"}) {
    if (plain.ends_with(suffix)) plain.erase(plain.size() - suffix.size());
  }
  const std::size_t result = plain.rfind(' ');
  return result == plain.npos ? plain : plain.substr(result + 1);
}

}  // namespace heddle::lab
