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
#include "x86_64_macros.inc"
#include "x86_64_filtered.inc"
#include "x86_64_depth.inc"

// Each of the four has a plain, a sparse and a filtered form, and one that only counts events that are lost. The plain one finds the window,
// and goes on to another where the window has a set of hooks (struct HookSet in window.hpp) instead of a sequence; that one is \at bytes into
// the set.
//
// With --coroutines, an enter first runs the code in x86_64_capturing.S; with --args or --retval, every event that in x86_64_values.S.
//
// The filtered form looks whether the event is wanted (x86_64_filtered.inc), or asks heddle_wanted (filter.hpp), before it stores the event as
// the plain one does, unless there is something to be done first: the slow path asks then. The brief form, of exits, is for --min-time alone.
.macro FUNCTION_HOOK name, exit, at
	.globl	\name
	BEGIN	\name
	FIND_WINDOW .L\name\()_none
	movq	HEDDLE_WINDOW_ENTER_SEQUENCE+8*\exit(%rcx), %rdx
	testq	%rdx, %rdx
	je	.L\name\()_other
	STORE_TIMED \exit, 0, %r8, .L\name\()_plain, .L\name\()_slow
	ret
.L\name\()_none:
	movl	$HEDDLE_KIND_CALL+HEDDLE_KIND_EXIT*\exit, %ecx
	.if \exit
	cmpq	%rsi, (%rsp)
	jne	1f
	orl	$HEDDLE_KIND_TAIL, %ecx			// as in the filtered form
1:
	.endif
	leaq	8(%rsp), %rdx
	jmp	heddle_record_early
.L\name\()_other:
	movq	HEDDLE_WINDOW_HOOKS(%rcx), %rax
	testq	%rax, %rax
	je	.L\name\()_slow
	jmp	*\at(%rax)
	SHARED	slow\name
slow\name:
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
	SHARED	sparse\name
	BEGIN_HERE sparse\name
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	.L\name\()_slow			// recording was paused just now, or this is a child that a handler has forked
	cmpq	$0, (%rdx)
	je	.L\name\()_was_preempted
	STORE_SPARSE \exit, 0, %r8, .L\name\()_sparse, .L\name\()_slow
	ret
	SEQUENCE .L\name\()_sparse, .L\name\()_sparse_begin, .L\name\()_sparse_commit, .L\name\()_slow
	SHARED	preempted\name
preempted\name:
.L\name\()_was_preempted:
	STORE_TIMED \exit, 0, %r8, .L\name\()_preempted, .L\name\()_slow, 1
	ret
	SEQUENCE .L\name\()_preempted, .L\name\()_preempted_begin, .L\name\()_preempted_commit, .L\name\()_slow
	END	sparse\name

	SHARED	filtered\name
	BEGIN	filtered\name
	FIND_STACK \name, %r8
	.if \exit
	DECIDE_EXIT \name, 0, %r8, %r9
	.else
	DECIDE_ENTER \name, 0, %r8, %r9, %r11
	.endif
.L\name\()_wanted:
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	.L\name\()_wanted_without
	.if \exit
	cmpq	$0, HEDDLE_WINDOW_MIN_TICKS(%rcx)
	jne	.L\name\()_perhaps_brief
	.endif
	SHARED	store\name
store\name:
.L\name\()_store:
	STORE_TIMED \exit, 0, %r8, .L\name\()_filtered, .L\name\()_wanted_slow
.L\name\()_unwanted:
	ret
	.if \exit
	DECIDE_EXIT_RARELY \name, 0, %r8, %r9
	.else
	DECIDE_ENTER_RARELY \name, 0, %r8, %r9, %r11
	SHARED	asking\name
asking\name:
	cmpq	$0, HEDDLE_WINDOW_POSITION(%rcx)
	je	.L\name\()_slow
	.endif
.L\name\()_ask:
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
	jne	.L\name\()_store
	jmp	.L\name\()_wanted_slow
.L\name\()_wanted_without:
	.if \exit
	cmpq	$0, HEDDLE_WINDOW_MIN_TICKS(%rcx)
	jne	.L\name\()_ask
	.endif
	SHARED	wanted_slow\name
wanted_slow\name:
.L\name\()_wanted_slow:
	FIND_WINDOW .L\name\()_unwanted
	movl	$HEDDLE_KIND_CALL+HEDDLE_KIND_EXIT*\exit+HEDDLE_KIND_WANTED, %r9d
	jmp	.L\name\()_slow_kind
	SEQUENCE .L\name\()_filtered, .L\name\()_filtered_begin, .L\name\()_filtered_commit, .L\name\()_wanted_slow
	END	filtered\name

	BEGIN	depth\name
	.if \exit
	POP_DEPTH \name, 0, %r8, %r10
	.else
	PUSH_DEPTH \name, 0, %r8, %r10, %r9
	.endif
	STORE_TIMED \exit, 0, %r8, .L\name\()_counted, .L\name\()_wanted_slow, 0, %r10
	ret
	DEPTH_RARELY \name, \exit, 0
	SEQUENCE .L\name\()_counted, .L\name\()_counted_begin, .L\name\()_counted_commit, .L\name\()_wanted_slow
	END	depth\name

	.if \exit
	SHARED	brief\name
	BEGIN	brief\name
	cmpq	$0, HEDDLE_WINDOW_POSITION(%rcx)
	je	.L\name\()_slow
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	.L\name\()_ask
.L\name\()_perhaps_brief:
	STORE_UNLESS_BRIEF 0, .L\name\()_brief, .L\name\()_ask
	ret
	SEQUENCE .L\name\()_brief, .L\name\()_brief_begin, .L\name\()_brief_commit, .L\name\()_ask
	END	brief\name
	.endif

	BEGIN	losing\name
	movq	HEDDLE_WINDOW_DROPPED(%rcx), %rax
	lock incq (%rax)
	ret
	END	losing\name
.endm

.macro ENTRY_HOOK name, exit, at
	.globl	\name
	BEGIN	\name
	SKIP_CALLER \exit
	SAVE	\exit
	FIND_WINDOW .L\name\()_none
	movq	HEDDLE_WINDOW_ENTER_SEQUENCE+8*\exit(%rcx), %rdx
	testq	%rdx, %rdx
	je	.L\name\()_other
	STORE_TIMED \exit, 1, %rsi, .L\name\()_plain, .L\name\()_slow
.L\name\()_done:
	RESTORE	\exit
	ret
.L\name\()_none:
	OPEN_FRAME
	movl	$HEDDLE_KIND_CALL+HEDDLE_KIND_ENTRY_WAY+HEDDLE_KIND_EXIT*\exit, %ecx
	movq	FRAME(%rsp), %rdi
	movq	FRAME+8(%rsp), %rsi
	leaq	FRAME+8(%rsp), %rdx
	leaq	heddle_record_early(%rip), %rax
	call	heddle_call_aligned
	CLOSE_FRAME
	jmp	.L\name\()_done
.L\name\()_other:
	movq	HEDDLE_WINDOW_HOOKS(%rcx), %rax
	testq	%rax, %rax
	je	.L\name\()_slow
	jmp	*\at(%rax)
	SHARED	slow\name
slow\name:
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
	call	heddle_call_aligned
	CLOSE_FRAME
	jmp	.L\name\()_done
.L\name\()_drop:
	incq	(%rax)
	jmp	.L\name\()_done
	SEQUENCE .L\name\()_plain, .L\name\()_plain_begin, .L\name\()_plain_commit, .L\name\()_slow
	END	\name

	BEGIN	crossing\name
	SKIP_CALLER \exit
	CROSSING .L\name\()_sparse, .L\name\()_slow
	END	crossing\name
	SHARED	sparse\name
	BEGIN_HERE sparse\name
	SKIP_CALLER \exit
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	.L\name\()_slow			// recording was paused just now, or this is a child that a handler has forked
	cmpq	$0, (%rdx)
	je	.L\name\()_was_preempted
	STORE_SPARSE \exit, 1, %rsi, .L\name\()_sparse, .L\name\()_slow
	RESTORE	\exit
	ret
	SEQUENCE .L\name\()_sparse, .L\name\()_sparse_begin, .L\name\()_sparse_commit, .L\name\()_slow
	SHARED	preempted\name
preempted\name:
.L\name\()_was_preempted:
	STORE_TIMED \exit, 1, %rsi, .L\name\()_preempted, .L\name\()_slow, 1
	RESTORE	\exit
	ret
	SEQUENCE .L\name\()_preempted, .L\name\()_preempted_begin, .L\name\()_preempted_commit, .L\name\()_slow
	END	sparse\name

	SHARED	filtered\name
	BEGIN	filtered\name
	SKIP_CALLER \exit
	FIND_STACK \name, %rsi
	.if \exit
	SAVE_MORE 1
	DECIDE_EXIT \name, 1, %rsi, %r9
	.else
	DECIDE_ENTER \name, 1, %rsi, %r11, %r9
	.endif
.L\name\()_wanted:
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	.L\name\()_wanted_without
	.if \exit
	cmpq	$0, HEDDLE_WINDOW_MIN_TICKS(%rcx)
	jne	.L\name\()_wanted_unless_brief
	.endif
	RESTORE_MORE \exit
	SHARED	store\name
store\name:
.L\name\()_store:
	STORE_TIMED \exit, 1, %rsi, .L\name\()_filtered, .L\name\()_wanted_slow
	RESTORE	\exit
	ret
.L\name\()_unwanted:
	RESTORE_MORE \exit
	RESTORE	\exit
	ret
	.if \exit
	DECIDE_EXIT_RARELY \name, 1, %rsi, %r9
	.else
	DECIDE_ENTER_RARELY \name, 1, %rsi, %r11, %r9
	SHARED	asking\name
asking\name:
	cmpq	$0, HEDDLE_WINDOW_POSITION(%rcx)
	je	.L\name\()_slow
	jmp	.L\name\()_ask_only
	.endif
.L\name\()_ask:
	RESTORE_MORE \exit
.L\name\()_ask_only:
	OPEN_FRAME
	movq	FRAME(%rsp), %rdi
	movq	FRAME+8(%rsp), %rsi
	leaq	FRAME+8(%rsp), %rdx
	movl	$HEDDLE_KIND_CALL+HEDDLE_KIND_ENTRY_WAY+HEDDLE_KIND_EXIT*\exit, %ecx
	leaq	heddle_wanted(%rip), %rax
	call	heddle_call_aligned
	CLOSE_FRAME
	cmpl	$HEDDLE_WANTED, %eax
	jb	.L\name\()_done
	ja	.L\name\()_wanted_slow
	FIND_WINDOW .L\name\()_done
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	jne	.L\name\()_store
	jmp	.L\name\()_wanted_slow
.L\name\()_wanted_without:
	.if \exit
	cmpq	$0, HEDDLE_WINDOW_MIN_TICKS(%rcx)
	jne	.L\name\()_ask
	.endif
	RESTORE_MORE \exit
	SHARED	wanted_slow\name
wanted_slow\name:
.L\name\()_wanted_slow:
	FIND_WINDOW .L\name\()_done
	movl	$HEDDLE_KIND_CALL+HEDDLE_KIND_ENTRY_WAY+HEDDLE_KIND_EXIT*\exit+HEDDLE_KIND_WANTED, %edx
	jmp	.L\name\()_slow_kind
	SEQUENCE .L\name\()_filtered, .L\name\()_filtered_begin, .L\name\()_filtered_commit, .L\name\()_wanted_slow
	END	filtered\name

	BEGIN	depth\name
	SKIP_CALLER \exit
	.if \exit
	POP_DEPTH \name, 1, %rsi, %rdx
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	.L\name\()_wanted_slow
	STORE_TIMED \exit, 1, %rsi, .L\name\()_counted, .L\name\()_wanted_slow
	.else
	PUSH_DEPTH \name, 1, %rsi, %r11, %rax
	STORE_TIMED \exit, 1, %rsi, .L\name\()_counted, .L\name\()_wanted_slow, 0, %r11
	.endif
	RESTORE	\exit
	ret
	DEPTH_RARELY \name, \exit, 1
	SEQUENCE .L\name\()_counted, .L\name\()_counted_begin, .L\name\()_counted_commit, .L\name\()_wanted_slow
	END	depth\name

	.if \exit
	SHARED	brief\name
	BEGIN	brief\name
	SKIP_CALLER \exit
	cmpq	$0, HEDDLE_WINDOW_POSITION(%rcx)
	je	.L\name\()_slow
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	.L\name\()_ask_only
	SAVE_MORE 1
.L\name\()_wanted_unless_brief:
	SAVE_BRIEF
	STORE_UNLESS_BRIEF 1, .L\name\()_brief, .L\name\()_ask_after_all
	RESTORE_BRIEF
	RESTORE_MORE 1
	RESTORE	1
	ret
.L\name\()_ask_after_all:
	RESTORE_BRIEF
	jmp	.L\name\()_ask
	SEQUENCE .L\name\()_brief, .L\name\()_brief_begin, .L\name\()_brief_commit, .L\name\()_ask_after_all
	END	brief\name
	.endif

	BEGIN	losing\name
	SKIP_CALLER \exit
	movq	HEDDLE_WINDOW_DROPPED(%rcx), %rax
	lock incq (%rax)
	jmp	.L\name\()_done
	END	losing\name
.endm

	.text
	FUNCTION_HOOK	__cyg_profile_func_enter, 0, 0
	FUNCTION_HOOK	__cyg_profile_func_exit, 1, 8
	ENTRY_HOOK	__heddle_fentry__, 0, 16
	ENTRY_HOOK	__heddle_return__, 1, 24

// Appends a record of three words: `first`, the time, `third`; both are registers, or `first` is a strand's word.
.macro APPEND first, third, name, slowly
	FIND_WINDOW .L\name\()_none
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	.L\name\()_slow
	ANNOUNCE .L\name
.L\name\()_begin:
	movq	HEDDLE_WINDOW_POSITION(%rcx), %r8
	testq	%r8, %r8
	je	.L\name\()_slow
	movq	(%r8), %r9
	leaq	HEDDLE_STRAND_BYTES-16(%r9), %rax	// the limit is a call's
	cmpq	HEDDLE_WINDOW_LIMIT(%rcx), %rax
	ja	.L\name\()_slow
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	.ifc	\first, strand
	movabsq	$HEDDLE_STRAND_WORD, %rdx
	movq	%rdx, (%r9)
	movq	\third, HEDDLE_WINDOW_STRAND(%rcx)	// for a flight recording's next block
	.else
	movq	\first, (%r9)
	.endif
	movq	%rax, 8(%r9)
	movq	\third, 16(%r9)
	addq	$HEDDLE_STRAND_BYTES, %r9
	movq	%r9, (%r8)
.L\name\()_commit:
.L\name\()_none:
	ret
.L\name\()_slow:
	cmpq	$0, HEDDLE_WINDOW_DROPPED(%rcx)
	jne	.L\name\()_none
	jmp	\slowly
	SEQUENCE .L\name, .L\name\()_begin, .L\name\()_commit, .L\name\()_slow
.endm

// void heddle_trace_strand_switch(uint64_t strand) of include/heddle/trace.h: a runtime may call it as often as it switches.
	.globl	heddle_trace_strand_switch
	BEGIN	heddle_trace_strand_switch
	APPEND	strand, %rdi, strand, heddle_strand_slowly
	END	heddle_trace_strand_switch

// void heddle_append(uint64_t first, uint64_t third) of frame_memory.hpp: as often as a coroutine is made and destroyed.
	SHARED	heddle_append
	BEGIN	heddle_append
	APPEND	%rdi, %rsi, append, heddle_append_slowly
	END	heddle_append

	SET	heddle_sparse_hooks, sparse, sparse
	SET	heddle_filtered_hooks, filtered, filtered
	SET	heddle_depth_hooks, depth, depth
	SET	heddle_brief_hooks, slow, brief			// enters have their sequence unless they must go the slow way
	SET	heddle_losing_hooks, losing, losing
	.section .note.GNU-stack, "", @progbits
