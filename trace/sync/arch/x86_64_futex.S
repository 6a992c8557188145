// long heddle_syscall_or_futex(long number, ...)
//
// In place of libc's syscall, which our own jumps to: futex(2) and futex_waitv(2) go to C++ code, with all arguments where they are, but for
// operations that neither wait nor wake.
//
//   on entry   rsp+0  return address    rdi number    rsi, rdx, rcx, r8, r9, rsp+8 arguments
#define HEDDLE_FUTEX 202
#define HEDDLE_FUTEX_WAITV 449
#define HEDDLE_FUTEX_COMMAND 127
#define HEDDLE_FD 2
#define HEDDLE_LAST_COMMAND 13

	.text
	.globl	heddle_syscall_or_futex
	.hidden	heddle_syscall_or_futex
	.type	heddle_syscall_or_futex, @function
heddle_syscall_or_futex:
	.cfi_startproc
	cmpq	$HEDDLE_FUTEX, %rdi
	jne	.Lother
	movl	%edx, %eax
	andl	$HEDDLE_FUTEX_COMMAND, %eax
	cmpl	$HEDDLE_LAST_COMMAND, %eax
	ja	.Lbehind		// of a later kernel
	cmpl	$HEDDLE_FD, %eax
	jne	heddle_futex
	jmp	.Lbehind
.Lother:
	cmpq	$HEDDLE_FUTEX_WAITV, %rdi
	je	heddle_futex_waitv
.Lbehind:
	movq	heddle_syscall_behind(%rip), %rax
	jmp	*%rax
	.cfi_endproc
	.size	heddle_syscall_or_futex, . - heddle_syscall_or_futex
	.section .note.GNU-stack, "", @progbits
