// void *dlopen(const char *file, int mode)
//
// dlopen looks at its return address to learn whose RUNPATH ($ORIGIN) and namespace apply, so the real one must
// be entered by a jump, with the caller's return address still on top of the stack.
//
//   on entry   rsp+0  return address    rdi file    esi mode
	.text
	.globl	dlopen
	.type	dlopen, @function
dlopen:
	.cfi_startproc
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp		// the call wants rsp on a 16-byte boundary
	.cfi_adjust_cfa_offset 8
	call	heddle_before_dlopen	// marks every thread, returns the real dlopen
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
	.cfi_endproc
	.size	dlopen, . - dlopen
	.section .note.GNU-stack, "", @progbits
