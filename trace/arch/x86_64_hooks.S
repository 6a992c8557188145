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

// Each of the four has a plain, a sparse and a filtered form. The plain one finds the window, and goes on to another where the window has a
// set of hooks (struct HookSet in window.hpp) instead of a sequence; that one is \at bytes into the set.
//
// The filtered form asks heddle_wanted (filter.hpp) before it stores the event as the plain one does, unless there is something to be done
// first: the slow path asks then.
.macro FUNCTION_HOOK name, exit, at
	.globl	\name
	BEGIN	\name
	FIND_WINDOW .L\name\()_none
	movq	HEDDLE_WINDOW_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	.L\name\()_other
	STORE_TIMED \exit, 0, %r8, .L\name\()_plain, .L\name\()_slow
.L\name\()_none:
	ret
.L\name\()_other:
	movq	HEDDLE_WINDOW_HOOKS(%rcx), %rax
	testq	%rax, %rax
	je	.L\name\()_slow
	jmp	*\at(%rax)
.L\name\()_slow:
	movl	$HEDDLE_KIND_CALL+HEDDLE_KIND_EXIT*\exit, %r9d
.L\name\()_slow_kind:
	movq	HEDDLE_WINDOW_DROPPED(%rcx), %rax
	testq	%rax, %rax
	jne	.L\name\()_drop
	leaq	8(%rsp), %rdx
	movl	%r9d, %ecx
	jmp	heddle_record_slowly
.L\name\()_drop:
	incq	(%rax)					// one instruction: whole for a signal handler
	ret
	SEQUENCE .L\name\()_plain, .L\name\()_plain_begin, .L\name\()_plain_commit, .L\name\()_slow
	END	\name

	BEGIN	crossing\name
	CROSSING .L\name\()_sparse, .L\name\()_slow
	END	crossing\name
	BEGIN_HERE sparse\name
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	cmpq	$0, (%rdx)
	je	.L\name\()_was_away
	STORE_SPARSE \exit, 0, %r8, .L\name\()_sparse, .L\name\()_slow
	ret
	SEQUENCE .L\name\()_sparse, .L\name\()_sparse_begin, .L\name\()_sparse_commit, .L\name\()_slow
.L\name\()_was_away:
	STORE_TIMED \exit, 0, %r8, .L\name\()_away, .L\name\()_slow, 1
	ret
	SEQUENCE .L\name\()_away, .L\name\()_away_begin, .L\name\()_away_commit, .L\name\()_slow
	END	sparse\name

	BEGIN	filtered\name
	cmpq	$0, HEDDLE_WINDOW_POSITION(%rcx)
	je	.L\name\()_slow
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp				// the call wants rsp on a 16-byte boundary
	.cfi_adjust_cfa_offset 8
	movl	$HEDDLE_KIND_CALL+HEDDLE_KIND_EXIT*\exit, %ecx
	.if \exit
	cmpq	%rsi, 24(%rsp)
	jne	1f
	orl	$HEDDLE_KIND_TAIL, %ecx			// the function's frame is gone: we shall return to its caller
1:
	.endif
	leaq	32(%rsp), %rdx
	call	heddle_wanted
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	cmpl	$HEDDLE_WANTED, %eax
	jb	.L\name\()_unwanted
	ja	.L\name\()_wanted_slow
	FIND_WINDOW .L\name\()_unwanted
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	.L\name\()_wanted_slow
	STORE_TIMED \exit, 0, %r8, .L\name\()_filtered, .L\name\()_wanted_slow
.L\name\()_unwanted:
	ret
.L\name\()_wanted_slow:
	FIND_WINDOW .L\name\()_unwanted
	movl	$HEDDLE_KIND_CALL+HEDDLE_KIND_EXIT*\exit+HEDDLE_KIND_WANTED, %r9d
	jmp	.L\name\()_slow_kind
	SEQUENCE .L\name\()_filtered, .L\name\()_filtered_begin, .L\name\()_filtered_commit, .L\name\()_wanted_slow
	END	filtered\name
.endm

.macro ENTRY_HOOK name, exit, at
	.globl	\name
	BEGIN	\name
	SAVE	\exit
	FIND_WINDOW .L\name\()_done
	movq	HEDDLE_WINDOW_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	.L\name\()_other
	STORE_TIMED \exit, 1, %rsi, .L\name\()_plain, .L\name\()_slow
.L\name\()_done:
	RESTORE	\exit
	ret
.L\name\()_other:
	movq	HEDDLE_WINDOW_HOOKS(%rcx), %rax
	testq	%rax, %rax
	je	.L\name\()_slow
	jmp	*\at(%rax)
.L\name\()_slow:
	movl	$HEDDLE_KIND_CALL+HEDDLE_KIND_ENTRY_WAY+HEDDLE_KIND_EXIT*\exit, %edx
.L\name\()_slow_kind:
	movq	HEDDLE_WINDOW_DROPPED(%rcx), %rax
	testq	%rax, %rax
	jne	.L\name\()_drop
	OPEN_FRAME
	movl	%edx, %ecx
	movq	FRAME(%rsp), %rdi
	movq	FRAME+8(%rsp), %rsi
	leaq	FRAME+8(%rsp), %rdx
	leaq	heddle_record_slowly(%rip), %rax
	call	in_shelter
	CLOSE_FRAME
	jmp	.L\name\()_done
.L\name\()_drop:
	incq	(%rax)
	jmp	.L\name\()_done
	SEQUENCE .L\name\()_plain, .L\name\()_plain_begin, .L\name\()_plain_commit, .L\name\()_slow
	END	\name

	BEGIN	crossing\name
	CROSSING .L\name\()_sparse, .L\name\()_slow
	END	crossing\name
	BEGIN_HERE sparse\name
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	cmpq	$0, (%rdx)
	je	.L\name\()_was_away
	STORE_SPARSE \exit, 1, %rsi, .L\name\()_sparse, .L\name\()_slow
	RESTORE	\exit
	ret
	SEQUENCE .L\name\()_sparse, .L\name\()_sparse_begin, .L\name\()_sparse_commit, .L\name\()_slow
.L\name\()_was_away:
	STORE_TIMED \exit, 1, %rsi, .L\name\()_away, .L\name\()_slow, 1
	RESTORE	\exit
	ret
	SEQUENCE .L\name\()_away, .L\name\()_away_begin, .L\name\()_away_commit, .L\name\()_slow
	END	sparse\name

	BEGIN	filtered\name
	cmpq	$0, HEDDLE_WINDOW_POSITION(%rcx)
	je	.L\name\()_slow
	OPEN_FRAME
	movq	FRAME(%rsp), %rdi
	movq	FRAME+8(%rsp), %rsi
	leaq	FRAME+8(%rsp), %rdx
	movl	$HEDDLE_KIND_CALL+HEDDLE_KIND_ENTRY_WAY+HEDDLE_KIND_EXIT*\exit, %ecx
	call	ask_if_wanted
	CLOSE_FRAME
	cmpl	$HEDDLE_WANTED, %eax
	jb	.L\name\()_done
	ja	.L\name\()_wanted_slow
	FIND_WINDOW .L\name\()_done
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	.L\name\()_wanted_slow
	STORE_TIMED \exit, 1, %rsi, .L\name\()_filtered, .L\name\()_wanted_slow
	RESTORE	\exit
	ret
.L\name\()_wanted_slow:
	FIND_WINDOW .L\name\()_done
	movl	$HEDDLE_KIND_CALL+HEDDLE_KIND_ENTRY_WAY+HEDDLE_KIND_EXIT*\exit+HEDDLE_KIND_WANTED, %edx
	jmp	.L\name\()_slow_kind
	SEQUENCE .L\name\()_filtered, .L\name\()_filtered_begin, .L\name\()_filtered_commit, .L\name\()_wanted_slow
	END	filtered\name
.endm

	.text
	FUNCTION_HOOK	__cyg_profile_func_enter, 0, 0
	FUNCTION_HOOK	__cyg_profile_func_exit, 1, 8
	ENTRY_HOOK	__heddle_fentry__, 0, 16
	ENTRY_HOOK	__heddle_return__, 1, 24

// void heddle_trace_strand_switch(uint64_t strand) of include/heddle/trace.h: a runtime may call it as often as it switches.
	.globl	heddle_trace_strand_switch
	BEGIN	heddle_trace_strand_switch
	FIND_WINDOW .Lstrand_none
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	.Lstrand_slow
	ANNOUNCE .Lstrand
.Lstrand_begin:
	movq	HEDDLE_WINDOW_POSITION(%rcx), %r8
	testq	%r8, %r8
	je	.Lstrand_slow
	movq	(%r8), %r9
	leaq	HEDDLE_STRAND_BYTES-16(%r9), %rax	// the limit is a call's
	cmpq	HEDDLE_WINDOW_LIMIT(%rcx), %rax
	ja	.Lstrand_slow
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movabsq	$HEDDLE_STRAND_WORD, %rdx
	movq	%rdx, (%r9)
	movq	%rax, 8(%r9)
	movq	%rdi, 16(%r9)
	addq	$HEDDLE_STRAND_BYTES, %r9
	movq	%r9, (%r8)
.Lstrand_commit:
.Lstrand_none:
	ret
.Lstrand_slow:
	cmpq	$0, HEDDLE_WINDOW_DROPPED(%rcx)
	jne	.Lstrand_none
	jmp	heddle_strand_slowly
	SEQUENCE .Lstrand, .Lstrand_begin, .Lstrand_commit, .Lstrand_slow
	END	heddle_trace_strand_switch

	.macro	SET name, form
	.pushsection .data.rel.ro, "aw", @progbits
	.globl	\name
	.hidden	\name
	.type	\name, @object
	.p2align 3
\name:
	.quad	\form\()__cyg_profile_func_enter, \form\()__cyg_profile_func_exit
	.quad	\form\()__heddle_fentry__, \form\()__heddle_return__
	.size	\name, . - \name
	.popsection
	.endm
	SET	heddle_sparse_hooks, sparse
	SET	heddle_filtered_hooks, filtered

// heddle_wanted on an aligned stack, with the direction flag clear. It is compiled for general registers alone, and calls nobody who is not.
// (popfq would cost more than all of it.)
	.type	ask_if_wanted, @function
ask_if_wanted:
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
	call	heddle_wanted
	leave
	.cfi_remember_state
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_restore_state
1:	cld
	andq	$-16, %rsp
	call	heddle_wanted
	std
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	ask_if_wanted, . - ask_if_wanted

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
	.size	in_shelter, . - in_shelter

	.local	xsave_known
	.comm	xsave_known, 1, 1			// 0: not asked yet
	.section .note.GNU-stack, "", @progbits
