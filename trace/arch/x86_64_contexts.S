// void makecontext(ucontext_t *context, void (*function)(void), int count, ...)
// fcontext_t make_fcontext(void *top, size_t size, void (*function)(transfer_t))
//
// The stack of a fiber is made. The real function is entered by a jump: arguments of makecontext may lie on the stack, and the
// caller of make_fcontext says whose make_fcontext is meant.
//
//   on entry   rsp+0  return address    rdi context    rdi top  rsi size
	.macro	JUMP name, before
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.irp	register, rdi, rsi, rdx, rcx, r8, r9, rax
	pushq	%\register
	.cfi_adjust_cfa_offset 8
	.endr				// rsp is on a 16-byte boundary, as the call wants
	leaq	56(%rsp), %rdx		// the address of the return address
	call	\before			// returns the real one
	movq	%rax, %r11
	.irp	register, rax, r9, r8, rcx, rdx, rsi, rdi
	popq	%\register
	.cfi_adjust_cfa_offset -8
	.endr
	jmp	*%r11
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
	JUMP	makecontext, heddle_before_makecontext
	JUMP	make_fcontext, heddle_before_make_fcontext
	.section .note.GNU-stack, "", @progbits
