// void heddle_test_probe(void): fills every register from `given`, calls __fentry__, keeps every register in `after_enter`; the
// same with __return__ and `after_exit`. All three are addressed from rip, so that no register is needed to find them.
#include "registers.h"

.macro EACH_REGISTER what, from
	.set	at, 0
	.irp	register, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
	\what	\register, \from
	.set	at, at + 8
	.endr
.endm
.macro FILL_ONE register, from
	movq	\from+at(%rip), %\register
.endm
.macro KEEP_ONE register, to
	movq	%\register, \to+at(%rip)
.endm
.macro EACH_VECTOR what, state
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\what	\n, \state
	.endr
.endm
.macro FILL_YMM n, from
	vmovdqu	\from+STATE_VECTORS+32*\n(%rip), %ymm\n
.endm
.macro FILL_XMM n, from
	movdqu	\from+STATE_VECTORS+32*\n(%rip), %xmm\n
.endm
.macro KEEP_YMM n, to
	vmovdqu	%ymm\n, \to+STATE_VECTORS+32*\n(%rip)
.endm
.macro KEEP_XMM n, to
	movdqu	%xmm\n, \to+STATE_VECTORS+32*\n(%rip)
.endm

.macro FILL
	fldt	given+STATE_X87(%rip)
	cmpb	$0, given+STATE_AVX(%rip)
	je	1f
	EACH_VECTOR FILL_YMM, given
	jmp	2f
1:	EACH_VECTOR FILL_XMM, given
2:	pushq	given+STATE_FLAGS(%rip)
	popfq
	EACH_REGISTER FILL_ONE, given
.endm

.macro KEEP to
	EACH_REGISTER KEEP_ONE, \to
	pushfq
	popq	\to+STATE_FLAGS(%rip)
	cld
	cmpb	$0, given+STATE_AVX(%rip)
	je	1f
	EACH_VECTOR KEEP_YMM, \to
	vzeroupper
	jmp	2f
1:	EACH_VECTOR KEEP_XMM, \to
2:	fstpt	\to+STATE_X87(%rip)
.endm

	.text
	.globl	heddle_test_probe
	.type	heddle_test_probe, @function
heddle_test_probe:
	.irp	register, rbp, rbx, r12, r13, r14, r15
	pushq	%\register
	.endr
	movq	%rsp, saved_rsp(%rip)
	subq	given+STATE_MISALIGNED(%rip), %rsp
	call	probed
	movq	saved_rsp(%rip), %rsp
	.irp	register, r15, r14, r13, r12, rbx, rbp
	popq	%\register
	.endr
	ret
	.size	heddle_test_probe, . - heddle_test_probe

	.type	probed, @function
probed:
	FILL
	call	__fentry__
	KEEP	after_enter
	FILL
	call	__return__
	KEEP	after_exit
	ret
	.size	probed, . - probed

	.local	saved_rsp
	.comm	saved_rsp, 8, 8
	.section .note.GNU-stack, "", @progbits
