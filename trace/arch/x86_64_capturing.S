// The capturing form of the enter hooks (--coroutines): where the entered function is a C++20 coroutine's, a record of its frame comes
// before the enter, which is then stored by one of the forms of x86_64_hooks.S. Exits are as without.
//
// The sparse form reads the clock wherever it asks: a frame may be another coroutine's on another thread soon, and only exact times tell which
// comes first.
//
// heddle_plain_sites (coroutines.hpp) holds the places that are known to be no coroutine's; the others ask heddle_find_frame, with the
// registers that the program has there, which tell where the frame is.
#include "x86_64_macros.inc"

// rcx, the window, is kept; rdx and r are used up. Goes to `ask` unless this place is no coroutine's.
.macro LOOK_UP r, ask
	movq	(%rsp), %rdx
	imull	$HEDDLE_SITES_FACTOR, %edx, %eax	// site_place() of coroutines.hpp
	shrl	$32-HEDDLE_SITES_BITS, %eax
	leaq	heddle_plain_sites(%rip), \r
	cmpq	%rdx, (\r,%rax,8)
	jne	\ask
.endm

// The rest of struct HookState, at rsp.
.macro SAVE_REGISTERS
	.set	at, HEDDLE_STATE_REGISTERS
	.irp	r, rbx, rbp, r12, r13, r14, r15
	movq	%\r, at(%rsp)
	.set	at, at+8
	.endr
	movq	%rdi, at(%rsp)
.endm

// Stores the record whose words are in r9 and r10. An empty announcement is left empty, as by heddle_append_values.
.macro STORE_FRAME sequence, slow
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	\slow
	movq	(%rdx), %r11
	ANNOUNCE \sequence
\sequence\()_begin:
	movq	HEDDLE_WINDOW_POSITION(%rcx), %r8
	testq	%r8, %r8
	je	\slow
	movq	(%r8), %rdx
	cmpq	HEDDLE_WINDOW_LIMIT(%rcx), %rdx
	ja	\slow
	movq	%r9, (%rdx)
	movq	%r10, 8(%rdx)
	addq	$16, %rdx
	movq	%rdx, (%r8)
\sequence\()_commit:
	testq	%r11, %r11
	jne	8f
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	8f					// recording was paused just now
	movq	%r11, (%rdx)
8:
.endm

// Stores the enter with its time, and returns to the program.
.macro STORE_NOW form, name, entry, r
	STORE_TIMED 0, \entry, \r, .L\form\name\()_timed, slow\name
	.if \entry
	RESTORE 0
	.endif
	ret
	SEQUENCE .L\form\name\()_timed, .L\form\name\()_timed_begin, .L\form\name\()_timed_commit, slow\name
.endm

.macro GO_ON form, name, entry, r
	.ifc	\form, capturing
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	slow\name
	STORE_NOW \form, \name, \entry, \r
	.endif
	.ifc	\form, sparse_capturing
	jmp	sparse\name
	.endif
	.ifc	\form, filtered_capturing
	jmp	filtered\name
	.endif
.endm

// The same where this was found out just now. There may be a frame's record, which goes where the enter is not wanted: heddle_wanted sees to it.
.macro GO_ON_ASKED form, name
	.ifc	\form, capturing
	je	.L\form\name\()_go_on
	.endif
	.ifc	\form, sparse_capturing
	je	.L\form\name\()_exact
	.endif
	.ifc	\form, filtered_capturing
	je	asking\name
	.endif
.endm

// The enter that the sparse form has asked about.
.macro STORE_EXACT form, name, entry, r
	.ifc	\form, sparse_capturing
.L\form\name\()_exact:
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	slow\name
	cmpq	$0, (%rdx)
	je	preempted\name
	STORE_NOW \form, \name, \entry, \r
	.endif
.endm

.macro FUNCTION_ENTER form, name
	BEGIN	\form\name
	LOOK_UP %r8, .L\form\name\()_ask
.L\form\name\()_go_on:
	GO_ON	\form, \name, 0, %r8
.L\form\name\()_ask:
	cmpq	$0, HEDDLE_WINDOW_DROPPED(%rcx)
	jne	.L\form\name\()_go_on
	subq	$HEDDLE_STATE_BYTES+24, %rsp		// the call wants rsp on a 16-byte boundary
	.cfi_adjust_cfa_offset HEDDLE_STATE_BYTES+24
	movq	%rsi, HEDDLE_STATE_BYTES(%rsp)
	movq	%rcx, HEDDLE_STATE_BYTES+8(%rsp)
	movq	%rdx, HEDDLE_STATE_SITE(%rsp)
	movq	%rdi, HEDDLE_STATE_FUNCTION(%rsp)
	leaq	HEDDLE_STATE_BYTES+24+8(%rsp), %rax
	movq	%rax, HEDDLE_STATE_STACK(%rsp)
	SAVE_REGISTERS
	movq	%rsp, %rdi
	call	heddle_find_frame
	testq	%rax, %rax
	je	.L\form\name\()_asked
	movq	%rax, %r9
	movq	%rdx, %r10
	FIND_WINDOW .L\form\name\()_asked
	STORE_FRAME .L\form\name\()_frame, .L\form\name\()_frame_slow
.L\form\name\()_asked:
	movq	HEDDLE_STATE_FUNCTION(%rsp), %rdi
	movq	HEDDLE_STATE_BYTES(%rsp), %rsi
	movq	HEDDLE_STATE_BYTES+8(%rsp), %rdx
	addq	$HEDDLE_STATE_BYTES+24, %rsp
	.cfi_adjust_cfa_offset -HEDDLE_STATE_BYTES-24
	FIND_WINDOW .L\form\name\()_none
	cmpq	%rdx, %rcx				// the thread's first may have found a form that is not its own
	GO_ON_ASKED \form, \name
	jmp	slow\name
	STORE_EXACT \form, \name, 0, %r8
.L\form\name\()_none:
	ret
	.cfi_adjust_cfa_offset HEDDLE_STATE_BYTES+24
.L\form\name\()_frame_slow:
	movq	%r9, %rdi
	movq	%r10, %rsi
	xorl	%edx, %edx
	call	heddle_frame_slowly
	jmp	.L\form\name\()_asked
	SEQUENCE .L\form\name\()_frame, .L\form\name\()_frame_begin, .L\form\name\()_frame_commit, .L\form\name\()_frame_slow
	END	\form\name
.endm

.macro ENTRY_ENTER form, name
	BEGIN	\form\name
	LOOK_UP %rsi, .L\form\name\()_ask
.L\form\name\()_go_on:
	GO_ON	\form, \name, 1, %rsi
.L\form\name\()_ask:
	cmpq	$0, HEDDLE_WINDOW_DROPPED(%rcx)
	jne	.L\form\name\()_go_on
	OPEN_FRAME
	leaq	-HEDDLE_STATE_BYTES-8(%rsp), %rsp
	.cfi_adjust_cfa_offset HEDDLE_STATE_BYTES+8
	movq	%rcx, HEDDLE_STATE_BYTES(%rsp)
	movq	%rdx, HEDDLE_STATE_SITE(%rsp)
	movq	$0, HEDDLE_STATE_FUNCTION(%rsp)
	leaq	HEDDLE_STATE_BYTES+8+FRAME+8(%rsp), %rax
	movq	%rax, HEDDLE_STATE_STACK(%rsp)
	SAVE_REGISTERS
	movq	%rsp, %rdi
	leaq	heddle_find_frame(%rip), %rax
	call	heddle_call_aligned
	testq	%rax, %rax
	je	.L\form\name\()_asked
	movq	%rax, %r9
	movq	%rdx, %r10
	FIND_WINDOW .L\form\name\()_asked
	STORE_FRAME .L\form\name\()_frame, .L\form\name\()_frame_slow
.L\form\name\()_asked:
	movq	HEDDLE_STATE_BYTES(%rsp), %rdx
	leaq	HEDDLE_STATE_BYTES+8(%rsp), %rsp
	.cfi_adjust_cfa_offset -HEDDLE_STATE_BYTES-8
	CLOSE_FRAME
	FIND_WINDOW .L\form\name\()_none
	cmpq	%rdx, %rcx				// the thread's first may have found a form that is not its own
	GO_ON_ASKED \form, \name
	jmp	slow\name
	STORE_EXACT \form, \name, 1, %rsi
.L\form\name\()_none:
	RESTORE	0
	ret
	.cfi_adjust_cfa_offset HEDDLE_STATE_BYTES+8+FRAME
.L\form\name\()_frame_slow:
	movq	%r9, %rdi
	movq	%r10, %rsi
	movl	$1, %edx
	leaq	heddle_frame_slowly(%rip), %rax
	call	heddle_call_aligned
	jmp	.L\form\name\()_asked
	SEQUENCE .L\form\name\()_frame, .L\form\name\()_frame_begin, .L\form\name\()_frame_commit, .L\form\name\()_frame_slow
	END	\form\name
.endm

	.text
	.irp	form, capturing, sparse_capturing, filtered_capturing
	FUNCTION_ENTER \form, __cyg_profile_func_enter
	ENTRY_ENTER \form, __heddle_fentry__
	.endr

	SET	heddle_capturing_hooks, capturing, slow		// exits have their sequence unless they must go the slow way
	SET	heddle_sparse_capturing_hooks, sparse_capturing, sparse
	SET	heddle_filtered_capturing_hooks, filtered_capturing, filtered
	SET	heddle_brief_capturing_hooks, capturing, brief
	.section .note.GNU-stack, "", @progbits
