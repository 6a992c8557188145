// What the hooks are made of (x86_64_hooks.S says what they are): where registers are kept, how the window is found, how a record is stored in
// a restartable sequence.
//
//   slots      rsp-8 rax   -16 rcx   -24 rdx   -32 rsi   -40 flags (exit)   | in the red zone: safe from signal handlers
//              -48 rdi   -56 r8   -64 r9   -72 r10   -80 r11               | only when something else must be called
#include "x86_64_layout.h"

#define LOCAL _ZN6heddle5trace5localE
#define RSEQ_SIGNATURE 0x53053053
#define FRAME 128
#define HEDDLE_PREFETCH 768

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

// rcx: the thread's window; goes to `none` where there is nothing to record with.
.macro FIND_WINDOW none
	movq	LOCAL@gottpoff(%rip), %rcx
	testq	%rcx, %rcx
	je	\none					// we are not relocated yet, but a library before us calls its IFUNC's resolver
	movq	%fs:HEDDLE_LOCAL_CURRENT(%rcx), %rcx
	testq	%rcx, %rcx
	je	\none					// the loader has not filled thread-local memory yet
.endm

// rax: the record's first word but for its ticks; rdx is used up.
.macro FIRST_WORD exit, entry, slow
	leaq	8(%rsp), %rdx
	subq	HEDDLE_WINDOW_BASE_STACK(%rcx), %rdx
	rorq	$HEDDLE_STACK_UNIT_SHIFT, %rdx		// a misaligned one becomes huge
	cmpq	$HEDDLE_STACK_MOST, %rdx
	ja	\slow
	shlq	$HEDDLE_STACK_SHIFT, %rdx
	leaq	HEDDLE_KIND_CALL+HEDDLE_KIND_EXIT*\exit+HEDDLE_KIND_ENTRY_WAY*\entry(%rax,%rdx), %rax
	.if \exit && !\entry
	movl	%edi, %edx
	shrl	$HEDDLE_CALLEE_UNIT_SHIFT, %edx
	andl	$HEDDLE_CALLEE_MOST, %edx
	shlq	$HEDDLE_CALLEE_SHIFT, %rdx
	orq	%rdx, %rax
	.endif
.endm

// Puts the ticks' low bits in their place in rax; rdx is used up.
.macro READ_CLOCK slow
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, %rdx
	shrq	$HEDDLE_TICKS_BITS, %rdx
	cmpq	HEDDLE_WINDOW_TICKS(%rcx), %rdx
	jne	\slow
	shlq	$HEDDLE_TICKS_SHIFT, %rax
.endm

// Stores the record with first word rax at rdx, and commits it; r is where the position is.
.macro STORE exit, entry, r, slow
	cmpq	HEDDLE_WINDOW_LIMIT(%rcx), %rdx
	ja	\slow
	prefetchw HEDDLE_PREFETCH(%rdx)			// the collector has read it: it must be taken from the other processor's cache
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
.endm

// Announces a restartable sequence at (rdx): from `begin` to `commit`, which is behind the one instruction that makes the record count. Who
// is interrupted in between is sent to `aborted`. Nothing is kept across `begin` that the slow path could have changed.
.macro ANNOUNCE sequence
	leaq	\sequence(%rip), %rax
	movq	%rax, (%rdx)
.endm

// struct rseq_cs of <linux/rseq.h>: version, flags, start, length, where to go instead; and that place, with the signature before it.
.macro SEQUENCE sequence, begin, commit, slow
	.byte	0x0f, 0xb9, 0x3d			// ud1: should anyone get here otherwise
	.long	RSEQ_SIGNATURE
7:	jmp	\slow
	.pushsection .data.rel.ro, "aw", @progbits
	.p2align 5
\sequence:
	.long	0, 0
	.quad	\begin, \commit - \begin, 7b
	.popsection
.endm

// Every event reads the clock.
.macro STORE_TIMED exit, entry, r, sequence, slow, away=0
	ANNOUNCE \sequence
\sequence\()_begin:
	movq	HEDDLE_WINDOW_POSITION(%rcx), \r
	testq	\r, \r
	je	\slow
	READ_CLOCK \slow
	.if \away
	btsq	$HEDDLE_AWAY_BIT, %rax
	.endif
	FIRST_WORD \exit, \entry, \slow
	movq	(\r), %rdx
	STORE	\exit, \entry, \r, \slow
\sequence\()_commit:
.endm

// Only a record that lies across a multiple of HEDDLE_SPARSE_BYTES reads the clock: that part comes first, in CROSSING, so that the
// record's store is the sequence's end.
.macro CROSSING sequence, slow
\sequence\()_begin:
	READ_CLOCK \slow
	jmp	\sequence\()_timed
.endm

.macro STORE_SPARSE exit, entry, r, sequence, slow
	ANNOUNCE \sequence
	movq	HEDDLE_WINDOW_POSITION(%rcx), \r
	testq	\r, \r
	je	\slow
	movq	(\r), %rax
	leaq	16-8*\exit(%rax), %rdx
	xorq	%rax, %rdx
	movl	$HEDDLE_KIND_UNTIMED, %eax
	cmpq	$HEDDLE_SPARSE_BYTES-1, %rdx
	ja	\sequence\()_begin
\sequence\()_timed:
	FIRST_WORD \exit, \entry, \slow
	movq	(\r), %rdx
	STORE	\exit, \entry, \r, \slow
\sequence\()_commit:
.endm

// For the other files of the library.
.macro SHARED name
	.globl	\name
	.hidden	\name
.endm

.macro BEGIN name
	.type	\name, @function
	.p2align 6
\name:
	.cfi_startproc
.endm

// Without padding, so that it can be of one sequence with what is in front of it.
.macro BEGIN_HERE name
	.type	\name, @function
\name:
	.cfi_startproc
.endm

.macro END name
	.cfi_endproc
	.size	\name, . - \name
.endm

// A set of hooks (struct HookSet in window.hpp): the forms of enter and exit.
.macro SET name, enter, exit
	.pushsection .data.rel.ro, "aw", @progbits
	SHARED	\name
	.type	\name, @object
	.p2align 3
\name:
	.quad	\enter\()__cyg_profile_func_enter, \exit\()__cyg_profile_func_exit
	.quad	\enter\()__heddle_fentry__, \exit\()__heddle_return__
	.size	\name, . - \name
	.popsection
.endm
