// long heddle_syscall_or_futex(long number, ...)
//
// In place of libc's syscall, which our own jumps to: futex(2) goes to C++ code where it waits or wakes, with all arguments where they are.
//
//   on entry   rsp+0  return address    rdi number    rsi, rdx, rcx, r8, r9, rsp+8 arguments
#define HEDDLE_FUTEX 202
#define HEDDLE_FUTEX_COMMAND 127
#define HEDDLE_WAIT 0
#define HEDDLE_WAKE 1
#define HEDDLE_WAIT_BITSET 9
#define HEDDLE_WAKE_BITSET 10

	.text
	.globl	heddle_syscall_or_futex
	.hidden	heddle_syscall_or_futex
	.type	heddle_syscall_or_futex, @function
heddle_syscall_or_futex:
	.cfi_startproc
	cmpq	$HEDDLE_FUTEX, %rdi
	jne	.Lbehind
	movl	%edx, %eax
	andl	$HEDDLE_FUTEX_COMMAND, %eax
	.irp	command, HEDDLE_WAIT, HEDDLE_WAKE, HEDDLE_WAIT_BITSET, HEDDLE_WAKE_BITSET
	cmpl	$\command, %eax
	je	heddle_futex
	.endr
.Lbehind:
	movq	heddle_syscall_behind(%rip), %rax
	jmp	*%rax
	.cfi_endproc
	.size	heddle_syscall_or_futex, . - heddle_syscall_or_futex
	.section .note.GNU-stack, "", @progbits
