// Helpers with which a hook of the second way in calls a function, although it must preserve all
// registers and may find the stack misaligned.
	.text
// Calls rax with up to four arguments, on an aligned stack, with the direction flag clear, and returns what it returns. The called function
// must be compiled for general registers alone, and must keep the vector registers (shelter.hpp) before it calls one that is not. (popfq would
// cost more than all of it.)
	.globl	heddle_call_aligned
	.hidden	heddle_call_aligned
	.type	heddle_call_aligned, @function
heddle_call_aligned:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushfq
	testb	$4, -7(%rbp)				// the direction flag is bit 10
	jne	1f
	andq	$-16, %rsp
	call	*%rax
	leave
	.cfi_remember_state
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_restore_state
1:	cld
	andq	$-16, %rsp
	call	*%rax
	std
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	heddle_call_aligned, . - heddle_call_aligned
	.section .note.GNU-stack, "", @progbits
