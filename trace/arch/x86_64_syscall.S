// long syscall(long number, ...)
//
// The real one is entered by a jump: what it starts (vfork, a clone with a stack of its own) may return on another stack, or find this one
// changed. libseccomp installs its filters so.
//
//   on entry   rsp+0  return address    rdi number    rsi, rdx, rcx, r8, r9, rsp+8 arguments
#define HEDDLE_SECCOMP 317

	.text
	.globl	syscall
	.type	syscall, @function
syscall:
	.cfi_startproc
	movq	heddle_real_syscall(%rip), %rax
	testq	%rax, %rax
	je	.Llook
	cmpq	$HEDDLE_SECCOMP, %rdi
	je	.Llook
	jmp	*%rax
.Llook:
	.irp	register, %rdi, %rsi, %rdx, %rcx, %r8, %r9
	pushq	\register
	.cfi_adjust_cfa_offset 8
	.endr
	subq	$8, %rsp		// the call wants rsp on a 16-byte boundary
	.cfi_adjust_cfa_offset 8
	call	heddle_before_syscall	// returns the real syscall
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	.irp	register, %r9, %r8, %rcx, %rdx, %rsi, %rdi
	popq	\register
	.cfi_adjust_cfa_offset -8
	.endr
	jmp	*%rax
	.cfi_endproc
	.size	syscall, . - syscall
	.section .note.GNU-stack, "", @progbits
