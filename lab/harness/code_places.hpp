#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::lab {

/// A function whose code an address belongs to.
struct code_frame {
  std::string
      function;      ///< demangled; without its namespaces where a type without linkage is in it
  std::string file;  ///< the source file with the line; empty where it is not known
};

/// The functions that the code at an address belongs to, the innermost first: those that were
/// inlined there, then the one that they were inlined into. Empty where no symbol covers it.
using code_place = std::vector<code_frame>;

/// Finds the places of addresses in this process. In this program by `addr2line`, which reads the
/// debug information; without any, a place is the symbol alone. In libraries by their symbols.
///
/// Throws cannot_run where addr2line is missing, std::runtime_error if it fails.
[[nodiscard]] std::map<std::uintptr_t, code_place> places_of(
    const std::vector<std::uintptr_t>& addresses);

/// Whether this program has debug information, so that places tell inlined functions.
[[nodiscard]] bool has_debug_information();

/// A demangled function's qualified name, without its result and without arguments, of templates
/// and of functions: `heddle::coop::await` for `void heddle::coop::await<A>(A&&)`.
[[nodiscard]] std::string plain_name(std::string_view demangled);

}  // namespace heddle::lab
