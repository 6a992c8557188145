// Contexts of our own runtime; HEDDLE_CONTEXT says by which mechanism.
#include <heddle/coop/context/asm_context.hpp>
#include <heddle/coop/context/setjmp_context.hpp>

#include "contexts.hpp"

namespace library {
namespace {
using mechanism = heddle::coop::HEDDLE_CONTEXT;
}

// One that is destroyed while it is suspended is unwound.
const std::size_t small_stack = 4096;
PLAIN void run(const plan& what) { fleet<mechanism>::run(what); }
PLAIN void give_way() { fleet<mechanism>::give_way(); }

}  // namespace library
