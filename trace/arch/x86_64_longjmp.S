// void longjmp(jmp_buf env, int value), and its other names
//
// A function that longjmp leaves calls no exit hook, so a record tells where it goes: else a reader, and the filter of the first way in,
// would take its call for open still. The real longjmp is entered by a jump, as if there were no wrapper.
//
//   on entry   rsp+0  return address    rdi env    esi value
	.macro	JUMP name, number
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp		// the call wants rsp on a 16-byte boundary
	.cfi_adjust_cfa_offset 8
	// glibc keeps the stack pointer in the seventh word, rotated and mixed with a secret of the thread (PTR_MANGLE).
	movq	48(%rdi), %rdi
	rorq	$17, %rdi
	xorq	%fs:0x30, %rdi
	movl	$\number, %esi
	leaq	24(%rsp), %rdx		// where the stack pointer is now
	call	heddle_before_longjmp	// returns the real one
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
	JUMP	longjmp, 0
	JUMP	_longjmp, 1
	JUMP	siglongjmp, 2
	JUMP	__longjmp_chk, 3
	.section .note.GNU-stack, "", @progbits
