// void __heddle_fentry__(void), void __heddle_return__(void)
//
// Where the stubs of include/heddle/return.h jump to: the quick way of store.hpp by hand, because compiled code would save every
// register that a call may change. __heddle_fentry__ preserves everything but r11 and the flags, __heddle_return__ everything. The
// stack may be misaligned: GCC calls __return__ when the frame is gone.
//
//   on entry   rsp+0  address inside the function, behind its call of the hook
//              rsp+8  return address of the function: the call site; its address is what is recorded as the stack pointer,
//                     the same at enter and exit
//
//   slots      rsp-8 rax   -16 rcx   -24 rdx   -32 rsi   -40 flags (exit)   | in the red zone: safe from signal handlers
//              -48 rdi   -56 r8   -64 r9   -72 r10   -80 r11               | only when something else must be called
#include "x86_64_layout.h"

#define LOCAL _ZN6heddle5trace5localE
#define CLOCK_IS_TSC _ZN6heddle5trace12clock_is_tscE
#define FRAME 128

// lahf and sahf leave out only the overflow flag, which seto keeps and 127 + 1 brings back. (In 64-bit mode since 2006.)
.macro SAVE exit
	movq	%rax, -8(%rsp)
	.if \exit
	lahf
	seto	%al
	movl	%eax, -40(%rsp)
	.endif
	movq	%rcx, -16(%rsp)
	movq	%rdx, -24(%rsp)
	movq	%rsi, -32(%rsp)
.endm

.macro RESTORE exit
	.if \exit
	movl	-40(%rsp), %eax
	addb	$127, %al
	sahf
	.endif
	movq	-8(%rsp), %rax
	movq	-16(%rsp), %rcx
	movq	-24(%rsp), %rdx
	movq	-32(%rsp), %rsi
.endm

// Below the slots; what was at x(%rsp) is at FRAME+x(%rsp).
.macro OPEN_FRAME
	leaq	-FRAME(%rsp), %rsp
	.cfi_adjust_cfa_offset FRAME
	movq	%rdi, FRAME-48(%rsp)
	movq	%r8, FRAME-56(%rsp)
	movq	%r9, FRAME-64(%rsp)
	movq	%r10, FRAME-72(%rsp)
	movq	%r11, FRAME-80(%rsp)
.endm

.macro CLOSE_FRAME
	movq	FRAME-48(%rsp), %rdi
	movq	FRAME-56(%rsp), %r8
	movq	FRAME-64(%rsp), %r9
	movq	FRAME-72(%rsp), %r10
	movq	FRAME-80(%rsp), %r11
	leaq	FRAME(%rsp), %rsp
	.cfi_adjust_cfa_offset -FRAME
.endm

.macro HOOK name, exit
	.globl	\name
	.type	\name, @function
	.p2align 6
\name:
	.cfi_startproc
	SAVE	\exit
	movq	LOCAL@gottpoff(%rip), %rcx
	testq	%rcx, %rcx
	je	3f					// we are not relocated yet, but a library before us calls its IFUNC's resolver
	movq	%fs:HEDDLE_LOCAL_CURRENT(%rcx), %rcx	// rcx: segment
	testq	%rcx, %rcx
	je	3f					// no thread-local memory yet (see store_event)
	movq	HEDDLE_SEGMENT_COUNT(%rcx), %rsi
	testq	%rsi, %rsi
	je	1f
	cmpb	$0, CLOCK_IS_TSC(%rip)
	je	1f
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax				// rax: when
	.if \exit
	btsq	$63, %rax
	.endif
	movl	$1, %edx
	xaddq	%rdx, (%rsi)				// reserved, in one instruction (see arch::reserve)
	subq	HEDDLE_SEGMENT_FIRST(%rcx), %rdx	// rdx: slot
	cmpq	HEDDLE_SEGMENT_CAPACITY(%rcx), %rdx
	jae	2f
	shlq	$HEDDLE_RECORD_SHIFT, %rdx
	addq	HEDDLE_SEGMENT_RECORDS(%rcx), %rdx	// rdx: record
	movq	(%rsp), %rcx
	btsq	$63, %rcx				// kWithin
	movq	8(%rsp), %rsi
	movq	%rcx, HEDDLE_RECORD_FUNCTION(%rdx)
	leaq	8(%rsp), %rcx
	movq	%rsi, HEDDLE_RECORD_CALL_SITE(%rdx)
	movq	%rcx, HEDDLE_RECORD_STACK_POINTER(%rdx)
	movq	%rax, HEDDLE_RECORD_WHEN(%rdx)		// last: now it counts
	RESTORE	\exit
	ret

1:	// First event, a module to look for, no file, or another clock.
	OPEN_FRAME
	movq	FRAME(%rsp), %rdi
	movq	FRAME+8(%rsp), %rsi
	leaq	FRAME+8(%rsp), %rdx
	movl	$\exit, %ecx
	leaq	heddle_entry_slowly(%rip), %rax
	call	in_shelter
	CLOSE_FRAME
	RESTORE	\exit
	ret

2:	// The file must grow. Where it cannot, the segment has no records, and the reservation itself has counted the event as dropped:
	// that must not cost a shelter each time.
	cmpq	$0, HEDDLE_SEGMENT_RECORDS(%rcx)
	je	3f
	OPEN_FRAME
	movq	%rcx, %r9				// segment
	addq	HEDDLE_SEGMENT_FIRST(%rcx), %rdx
	movq	%rdx, %r8				// index
	movq	%rax, %rdi				// when
	movq	FRAME(%rsp), %rsi
	movq	FRAME+8(%rsp), %rdx
	leaq	FRAME+8(%rsp), %rcx
	leaq	heddle_entry_beyond(%rip), %rax
	call	in_shelter
	CLOSE_FRAME
3:	RESTORE	\exit
	ret
	.cfi_endproc
	.size	\name, . - \name
.endm

	.text
	HOOK	__heddle_fentry__, 0
	HOOK	__heddle_return__, 1

// Calls rax with up to six arguments, on an aligned stack, with the direction flag clear, and with the x87, SSE, AVX and
// AVX-512 state kept: the recorder's own code leaves it alone, but libc's (dl_iterate_phdr, dlsym) need not.
	.type	in_shelter, @function
in_shelter:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushfq
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
	.size	in_shelter, . - in_shelter

	.local	xsave_known
	.comm	xsave_known, 1, 1			// 0: not asked yet
	.section .note.GNU-stack, "", @progbits
