// What lets a hook of the second way in, which must preserve everything and may find the stack misaligned, call a function.
	.macro	BEGIN_HIDDEN name
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.endm

	.text
// Calls rax with up to four arguments, on an aligned stack, with the direction flag clear, and returns what it returns. It must be compiled
// for general registers alone, and call nobody who is not. (popfq would cost more than all of it.)
	BEGIN_HIDDEN heddle_call_aligned
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

// Calls rax with up to four arguments, on an aligned stack, with the direction flag clear, and with the x87, SSE, AVX and
// AVX-512 state kept: the recorder's own code leaves it alone, but libc's (dl_iterate_phdr, dlsym) need not.
	BEGIN_HIDDEN heddle_call_sheltered
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushfq
	andb	$0xfe, 1(%rsp)				// not the trap flag of a debugger that steps through here
	cld
	subq	$2688+16, %rsp				// the XSAVE area up to component 7, and two words above it
	andq	$-64, %rsp
	movq	%rax, %r11				// target
	movq	%rdx, %r10				// third argument
	cmpb	$1, xsave_known(%rip)
	je	4f
	ja	5f
	movq	%rbx, -16(%rbp)				// the two words
	movq	%rcx, -24(%rbp)
	movl	$1, %eax
	cpuid
	btl	$27, %ecx				// OSXSAVE
	movl	$2, %eax
	sbbb	$0, %al					// 1: there is XSAVE, 2: there is not
	movb	%al, xsave_known(%rip)
	movq	-16(%rbp), %rbx
	movq	-24(%rbp), %rcx
	cmpb	$1, %al
	jne	5f
4:	xorl	%eax, %eax				// the area's header: XRSTOR wants its reserved bytes zero
	.irp	at, 512, 520, 528, 536, 544, 552, 560, 568
	movq	%rax, \at(%rsp)
	.endr
	movl	$0xe7, %eax
	xorl	%edx, %edx
	xsave64	(%rsp)
	movq	%r10, %rdx
	call	*%r11
	movl	$0xe7, %eax
	xorl	%edx, %edx
	xrstor64 (%rsp)
	jmp	6f
5:	fxsave64 (%rsp)
	movq	%r10, %rdx
	call	*%r11
	fxrstor64 (%rsp)
6:	leaq	-8(%rbp), %rsp
	popfq
	popq	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	heddle_call_sheltered, . - heddle_call_sheltered

	.local	xsave_known
	.comm	xsave_known, 1, 1			// 0: not asked yet
	.section .note.GNU-stack, "", @progbits
