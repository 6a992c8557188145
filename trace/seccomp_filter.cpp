#include "seccomp_filter.hpp"

namespace heddle::trace {

std::uint32_t seccomp_action(const sock_fprog& program, const seccomp_data& call) {
  std::uint32_t a = 0, x = 0, memory[BPF_MEMWORDS] = {};
  const auto* const words = reinterpret_cast<const std::uint32_t*>(&call);
  for (std::uint32_t at = 0; at < program.len; ++at) {
    const sock_filter& step = program.filter[at];
    const std::uint32_t operand = BPF_SRC(step.code) == BPF_X ? x : step.k;
    switch (BPF_CLASS(step.code)) {
      case BPF_LD:
      case BPF_LDX: {
        std::uint32_t& to = BPF_CLASS(step.code) == BPF_LD ? a : x;
        const auto mode = BPF_MODE(step.code);
        to = mode == BPF_ABS && step.k < sizeof call && step.k % 4 == 0 ? words[step.k / 4]
             : mode == BPF_LEN                                          ? sizeof call
             : mode == BPF_MEM ? memory[step.k % BPF_MEMWORDS]
                               : step.k;
        break;
      }
      case BPF_ST:
        memory[step.k % BPF_MEMWORDS] = a;
        break;
      case BPF_STX:
        memory[step.k % BPF_MEMWORDS] = x;
        break;
      case BPF_ALU:
        switch (BPF_OP(step.code)) {
          case BPF_ADD:
            a += operand;
            break;
          case BPF_SUB:
            a -= operand;
            break;
          case BPF_MUL:
            a *= operand;
            break;
          case BPF_DIV:
            a = operand != 0 ? a / operand : 0;
            break;
          case BPF_OR:
            a |= operand;
            break;
          case BPF_AND:
            a &= operand;
            break;
          case BPF_XOR:
            a ^= operand;
            break;
          case BPF_LSH:
            a = operand < 32 ? a << operand : 0;
            break;
          case BPF_RSH:
            a = operand < 32 ? a >> operand : 0;
            break;
          case BPF_NEG:
            a = -a;
            break;
          default:
            return SECCOMP_RET_ALLOW;
        }
        break;
      case BPF_JMP: {
        bool holds = true;
        switch (BPF_OP(step.code)) {
          case BPF_JA:
            if (step.k >= program.len - at) return SECCOMP_RET_ALLOW;
            at += step.k;
            continue;
          case BPF_JEQ:
            holds = a == operand;
            break;
          case BPF_JGT:
            holds = a > operand;
            break;
          case BPF_JGE:
            holds = a >= operand;
            break;
          case BPF_JSET:
            holds = (a & operand) != 0;
            break;
          default:
            return SECCOMP_RET_ALLOW;
        }
        at += holds ? step.jt : step.jf;
        break;
      }
      case BPF_RET:
        return BPF_RVAL(step.code) == BPF_A ? a : step.k;
      default:
        (BPF_MISCOP(step.code) == BPF_TAX ? x : a) = BPF_MISCOP(step.code) == BPF_TAX ? a : x;
    }
  }
  return SECCOMP_RET_ALLOW;  // the kernel refuses such a filter
}

}  // namespace heddle::trace
