// The hooks' quick way: __cyg_profile_func_enter and __cyg_profile_func_exit, which -finstrument-functions calls, and
// __heddle_fentry__ and __heddle_return__, where the stubs of include/heddle/return.h jump to. All four store a record of
// docs/trace-format.md, one for each event, in a restartable sequence (rseq(2)): when a signal or another thread interrupts it before
// its last instruction, the kernel sends us to the slow path, which blocks signals. So nothing is ever half done, and no locked
// instruction is needed.
//
// The first two are ordinary functions. The others are called where a call is not expected: __heddle_fentry__ preserves everything but
// r11 and the flags, __heddle_return__ everything. The stack may be misaligned there: GCC calls __return__ when the frame is gone.
//
//   on entry   rsp+0  address inside the function, behind its call of the hook
//              rsp+8  second way in: the function's return address, the call site; its address is what is recorded as the stack
//                     pointer, the same at enter and exit. First way: the caller's stack pointer is the address rsp+8.
//
//   slots      rsp-8 rax   -16 rcx   -24 rdx   -32 rsi   -40 flags (exit)   | in the red zone: safe from signal handlers
//              -48 rdi   -56 r8   -64 r9   -72 r10   -80 r11               | only when something else must be called
#include "x86_64_layout.h"

#define LOCAL _ZN6heddle5trace5localE
#define RSEQ_SIGNATURE 0x53053053
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

// struct rseq_cs of <linux/rseq.h>: version, flags, start, length, where to go instead.
.macro SEQUENCE begin, end, abort
	.pushsection .data.rel.ro, "aw", @progbits
	.p2align 5
8:	.long	0, 0
	.quad	\begin, \end - \begin, \abort
	.popsection
.endm

// Stores a record; r is where the position is. Between `1:` and `2:` nothing is kept that the slow path could have changed.
.macro QUICK_WAY exit, entry, r
	movq	LOCAL@gottpoff(%rip), %rcx
	testq	%rcx, %rcx
	je	3f					// we are not relocated yet, but a library before us calls its IFUNC's resolver
	movq	%fs:HEDDLE_LOCAL_CURRENT(%rcx), %rcx	// rcx: window
	testq	%rcx, %rcx
	je	3f					// the loader has not filled thread-local memory yet; nothing can be recorded
	movq	HEDDLE_WINDOW_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	4f
	leaq	8f(%rip), %rax
	movq	%rax, (%rdx)
1:	movq	HEDDLE_WINDOW_POSITION(%rcx), \r
	testq	\r, \r
	je	4f
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, %rdx
	shrq	$HEDDLE_TICKS_BITS, %rdx
	cmpq	HEDDLE_WINDOW_TICKS(%rcx), %rdx
	jne	4f
	leaq	8(%rsp), %rdx
	subq	HEDDLE_WINDOW_BASE_STACK(%rcx), %rdx
	rorq	$HEDDLE_STACK_UNIT_SHIFT, %rdx		// a misaligned one becomes huge
	cmpq	$HEDDLE_STACK_MOST, %rdx
	ja	4f
	shlq	$HEDDLE_TICKS_SHIFT, %rax
	shlq	$HEDDLE_STACK_SHIFT, %rdx
	leaq	HEDDLE_KIND_CALL+HEDDLE_KIND_EXIT*\exit+HEDDLE_KIND_ENTRY_WAY*\entry(%rax,%rdx), %rax
	.if \exit && !\entry
	movl	%edi, %edx
	shrl	$HEDDLE_CALLEE_UNIT_SHIFT, %edx
	andl	$HEDDLE_CALLEE_MOST, %edx
	shlq	$HEDDLE_CALLEE_SHIFT, %rdx
	orq	%rdx, %rax
	.endif
	movq	(\r), %rdx				// rdx: the record
	cmpq	HEDDLE_WINDOW_LIMIT(%rcx), %rdx
	ja	4f
	movq	%rax, (%rdx)
	.if \exit
	addq	$8, %rdx
	.else
	.if \entry
	movl	8(%rsp), %eax
	movl	%eax, 8(%rdx)
	movl	(%rsp), %eax
	movl	%eax, 12(%rdx)
	.else
	movl	%esi, 8(%rdx)
	movl	%edi, 12(%rdx)
	.endif
	addq	$16, %rdx
	.endif
	movq	%rdx, (\r)				// now it counts
2:
.endm

.macro ABORT to
	.byte	0x0f, 0xb9, 0x3d			// ud1: should anyone get here otherwise
	.long	RSEQ_SIGNATURE
7:	jmp	\to
.endm

.macro BEGIN name
	.globl	\name
	.type	\name, @function
	.p2align 6
\name:
	.cfi_startproc
.endm

.macro END name
	.cfi_endproc
	.size	\name, . - \name
.endm

.macro FUNCTION_HOOK name, exit
	BEGIN	\name
	QUICK_WAY \exit, 0, %r8
3:	ret
4:	movq	HEDDLE_WINDOW_DROPPED(%rcx), %rax
	testq	%rax, %rax
	jne	5f
	leaq	8(%rsp), %rdx
	movl	$HEDDLE_KIND_CALL+HEDDLE_KIND_EXIT*\exit, %ecx
	jmp	heddle_record_slowly
5:	incq	(%rax)					// one instruction: whole for a signal handler
	ret
	ABORT	4b
	SEQUENCE 1b, 2b, 7b
	END	\name
.endm

.macro ENTRY_HOOK name, exit
	BEGIN	\name
	SAVE	\exit
	QUICK_WAY \exit, 1, %rsi
3:	RESTORE	\exit
	ret
4:	movq	HEDDLE_WINDOW_DROPPED(%rcx), %rax
	testq	%rax, %rax
	jne	5f
	OPEN_FRAME
	movq	FRAME(%rsp), %rdi
	movq	FRAME+8(%rsp), %rsi
	leaq	FRAME+8(%rsp), %rdx
	movl	$HEDDLE_KIND_CALL+HEDDLE_KIND_ENTRY_WAY+HEDDLE_KIND_EXIT*\exit, %ecx
	leaq	heddle_record_slowly(%rip), %rax
	call	in_shelter
	CLOSE_FRAME
	jmp	3b
5:	incq	(%rax)
	jmp	3b
	ABORT	4b
	SEQUENCE 1b, 2b, 7b
	END	\name
.endm

	.text
	FUNCTION_HOOK	__cyg_profile_func_enter, 0
	FUNCTION_HOOK	__cyg_profile_func_exit, 1
	ENTRY_HOOK	__heddle_fentry__, 0
	ENTRY_HOOK	__heddle_return__, 1

// Calls rax with up to four arguments, on an aligned stack, with the direction flag clear, and with the x87, SSE, AVX and
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
