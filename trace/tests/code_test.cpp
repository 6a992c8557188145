// What is said of code before it is run: only what the processor will do for certain.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "../arch/x86_64_code.hpp"

namespace {

using heddle::trace::arch::AddressPlace;
using heddle::trace::arch::certain_access;
using heddle::trace::arch::kNoAccess;

using Code = std::vector<std::uint8_t>;

constexpr AddressPlace kRbx{3, false, 0}, kRdi{7, false, 0}, kR12{12, false, 0};
constexpr AddressPlace kBelowFramePointer{5, true, -40}, kAboveStackPointer{4, true, 24};

std::uint32_t access(const AddressPlace& place, const Code& code) {
  return certain_access(code.data(), code.size(), place);
}

const Code kReadRbx{0x0f, 0xb7, 0x4b, 0x30};  // movzwl 0x30(%rbx), %ecx

Code joined(Code first, const Code& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

TEST_CASE("what a coroutine's function reads first is known, as GCC writes it") {
  // -finstrument-functions, -O1 to -O3: an actor, a function that destroys
  CHECK(access(kRbx, joined(kReadRbx, {0xf6, 0xc1, 0x01, 0x74, 0x10})) == 0x30);
  CHECK(access(kRbx, {0x66, 0x83, 0x4b, 0x30, 0x01}) == 0x30);
  // -O0: mov -0x28(%rbp), %rax; movzwl 0x30(%rax), %eax
  CHECK(access(kBelowFramePointer, {0x48, 0x8b, 0x45, 0xd8, 0x0f, 0xb7, 0x40, 0x30}) == 0x30);
  // mov 24(%rsp), %r12; cmpq $0, 0x140(%r12)
  CHECK(access(kAboveStackPointer, {0x4c, 0x8b, 0x64, 0x24, 0x18, 0x49, 0x83, 0xbc, 0x24, 0x40,
                                    0x01, 0x00, 0x00, 0x00}) == 0x140);
  // -mfentry, -O2: push %rbp; push %rbx; mov %rdi, %rbx; sub $8, %rsp; movzwl 0x30(%rdi), %ecx
  CHECK(access(kRdi, {0x55, 0x53, 0x48, 0x89, 0xfb, 0x48, 0x83, 0xec, 0x08, 0x0f, 0xb7, 0x4f,
                      0x30}) == 0x30);
  // -mfentry, -O0: push %rbp; mov %rsp, %rbp; push %rbx; sub $0x28, %rsp; mov %rdi, -0x28(%rbp);
  // mov -0x28(%rbp), %rax; movzwl 0x30(%rax), %eax
  CHECK(access(kRdi, {0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 0x28, 0x48, 0x89,
                      0x7d, 0xd8, 0x48, 0x8b, 0x45, 0xd8, 0x0f, 0xb7, 0x40, 0x30}) == 0x30);
  // The stack protector's word in between: mov %fs:0x28, %rax; mov %rax, -0x18(%rbp)
  const Code guarded{0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0x7d, 0xd8, 0x64, 0x48, 0x8b,
                     0x04, 0x25, 0x28, 0x00, 0x00, 0x00, 0x48, 0x89, 0x45, 0xe8, 0x31,
                     0xc0, 0x48, 0x8b, 0x45, 0xd8, 0x0f, 0xb7, 0x40, 0x30};
  CHECK(access(kRdi, guarded) == 0x30);
  // mov %rbx, %rdi; lea 8(%rdi), %rax; movb $1, (%rdi)
  CHECK(access(kRbx, {0x48, 0x89, 0xdf, 0x48, 0x8d, 0x47, 0x08, 0xc6, 0x07, 0x01}) == 0);
}

TEST_CASE("what may not happen is not said to happen") {
  const std::vector<Code> in_front{
      {0x74, 0x00},                                // je
      {0xe8, 0x00, 0x00, 0x00, 0x00},              // call
      {0xc3},                                      // ret
      {0x0f, 0x0b},                                // ud2
      {0x48, 0x31, 0xdb},                          // xor %rbx, %rbx
      {0x48, 0x89, 0xc3},                          // mov %rax, %rbx
      {0x89, 0xdb},                                // mov %ebx, %ebx
      {0x48, 0x8d, 0x5b, 0x08},                    // lea 8(%rbx), %rbx
      {0x48, 0x83, 0xc3, 0x08},                    // add $8, %rbx
      {0xc6, 0xc7, 0x01},                          // mov $1, %bh
      {0x88, 0xc7},                                // mov %al, %bh
      {0x80, 0xcb, 0x01},                          // or $1, %bl
      {0x8a, 0x7c, 0x24, 0x08},                    // mov 8(%rsp), %bh
      {0x48, 0x8b, 0x5c, 0x24, 0x08},              // mov 8(%rsp), %rbx
      {0x0f, 0xb6, 0x5c, 0x24, 0x08},              // movzbl 8(%rsp), %ebx
      {0xf6, 0xdb},                                // neg %bl
      {0x5b},                                      // pop %rbx
      {0x48, 0x8b, 0x00},                          // mov (%rax), %rax: its page may not be there
      {0x48, 0x89, 0x45, 0x08},                    // mov %rax, 8(%rbp), which may be anything
      {0x64, 0x48, 0x89, 0x04, 0x25, 0, 0, 0, 0},  // mov %rax, %fs:0
      {0x48, 0x89, 0xc4},                          // mov %rax, %rsp
      {0x48, 0x8b, 0x0c, 0xc5, 0, 0x10, 0, 0},     // mov 0x1000(,%rax,8), %rcx
      {0x64, 0x48, 0x8b, 0x0c, 0xc5, 0, 0, 0, 0},  // mov %fs:0(,%rax,8), %rcx
      {0xc7, 0xf8, 0, 0, 0, 0},                    // xbegin: a fault ends the transaction
  };
  for (const Code& code : in_front) {
    CAPTURE(int{code[0]});
    CHECK(access(kRbx, joined(code, kReadRbx)) == kNoAccess);
  }
  CHECK(access(kR12, kReadRbx) == kNoAccess);
  CHECK(access(kRbx, {}) == kNoAccess);
  CHECK(access(kRbx, {0x0f, 0xb7, 0x4b}) == kNoAccess);                          // cut off
  CHECK(access(kRbx, {0x0f, 0xb7, 0x4b, 0xf0}) == kNoAccess);                    // in front of it
  CHECK(access(kRbx, {0x0f, 0xb7, 0x8b, 0x00, 0x10, 0x00, 0x00}) == kNoAccess);  // far behind it
  CHECK(access(kRbx, {0x0f, 0xb7, 0x0c, 0x03}) == kNoAccess);                    // (%rbx,%rax)
  CHECK(access(kRbx, {0x64, 0x0f, 0xb7, 0x4b, 0x30}) == kNoAccess);              // %fs:0x30(%rbx)
  CHECK(access(kRbx, {0x48, 0x8d, 0x4b, 0x30}) == kNoAccess);                    // lea
  // One instruction, and no other behind it: data16 cmp $0x38b0000, %rcx
  CHECK(access(kRbx, {0x66, 0x48, 0x81, 0xf9, 0x00, 0x00, 0x8b, 0x03}) == kNoAccess);
}

TEST_CASE("a word of the stack that was overwritten holds nothing") {
  const Code read{0x48, 0x8b, 0x44, 0x24,
                  0x18, 0x8b, 0x08};  // mov 24(%rsp), %rax; mov (%rax), %ecx
  REQUIRE(access(kAboveStackPointer, read) == 0);
  const Code beside{0x48, 0x89, 0x44, 0x24, 0x20};  // mov %rax, 32(%rsp)
  CHECK(access(kAboveStackPointer, joined(beside, read)) == 0);
  const Code into{0xc7, 0x44, 0x24, 0x1c, 0, 0, 0, 0};  // movl $0, 28(%rsp)
  CHECK(access(kAboveStackPointer, joined(into, read)) == kNoAccess);
  const Code moved{0x48, 0x83, 0xec, 0x08};  // sub $8, %rsp
  CHECK(access(kAboveStackPointer, joined(moved, read)) == kNoAccess);
  CHECK(access(kAboveStackPointer, joined({0x50}, read)) == kNoAccess);  // push %rax
  // mov 24(%rsp), %eax: half of it
  CHECK(access(kAboveStackPointer, {0x8b, 0x44, 0x24, 0x18, 0x8b, 0x08}) == kNoAccess);
}
