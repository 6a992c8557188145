// The valued form of all four hooks (--args, --retval): where the plan tells what a call is given or gives back, a record of that comes before
// the event, which is then stored by one of the forms of x86_64_hooks.S. With --coroutines, records of frames come before enters, as in
// x86_64_capturing.S.
//
// heddle_plain_sites (coroutines.hpp) holds the places of which nothing is recorded but the event; the others call heddle_visit (values.hpp) with
// all registers that the program has there. A filter is asked there, too, so that what is not wanted leaves no record.
#include "x86_64_macros.inc"

#define FUNCTION_ROOM HEDDLE_VISIT_BYTES+16	/* the call wants rsp on a 16-byte boundary */
#define ENTRY_ROOM HEDDLE_VISIT_BYTES+8

// rcx, the window, is kept; rdx is the site from here on; r is used up. Goes to `ask` unless this place is a plain one.
.macro LOOK_UP r, ask
	movq	(%rsp), %rdx
	imull	$HEDDLE_SITES_FACTOR, %edx, %eax	// site_place() of coroutines.hpp
	shrl	$32-HEDDLE_SITES_BITS, %eax
	leaq	heddle_plain_sites(%rip), \r
	cmpq	%rdx, (\r,%rax,8)
	jne	\ask
.endm

// A register's place in struct VisitState, by DWARF's number.
.macro KEEP number, r
	movq	%\r, HEDDLE_VISIT_REGISTERS+8*\number(%rsp)
.endm

// The registers that every function preserves.
.macro KEEP_PRESERVED
	KEEP	3, rbx
	KEEP	6, rbp
	KEEP	12, r12
	KEEP	13, r13
	KEEP	14, r14
	KEEP	15, r15
.endm

.macro GO_ON form, name, exit, entry, r
	.ifc	\form, valued
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	slow\name
	STORE_TIMED \exit, \entry, \r, .L\form\name\()_timed, slow\name
	.if \entry
	RESTORE \exit
	.endif
	ret
	SEQUENCE .L\form\name\()_timed, .L\form\name\()_timed_begin, .L\form\name\()_timed_commit, slow\name
	.endif
	.ifc	\form, sparse_valued
	jmp	sparse\name
	.endif
	.ifc	\form, filtered_valued
	jmp	filtered\name
	.endif
	.ifc	\form, brief_valued
	.if \exit
	jmp	brief\name
	.else
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	slow\name
	jmp	store\name
	.endif
	.endif
.endm

// eax: heddle_visit's answer; rdx: the window that the hook found.
.macro GO_ON_VISITED form, name, exit, entry
	cmpl	$HEDDLE_VISIT_UNWANTED, %eax
	je	.L\form\name\()_none
	FIND_WINDOW .L\form\name\()_none
	cmpl	$HEDDLE_VISIT_STORE, %eax
	ja	wanted_slow\name
	je	.L\form\name\()_store
	cmpq	%rdx, %rcx				// the thread's first may have found a form that is not its own
	jne	slow\name
	.ifc	\form, filtered_valued
	.if \exit
	jmp	filtered\name
	.else
	jmp	asking\name				// there may be a frame's record, which goes where the enter is not wanted
	.endif
	.else
	jmp	.L\form\name\()_go_on
	.endif
.L\form\name\()_store:
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	wanted_slow\name
	.ifc	\form, sparse_valued
	cmpq	$0, (%rdx)
	je	preempted\name
	.endif
	jmp	store\name
.endm

.macro FUNCTION_HOOK form, name, exit
	BEGIN	\form\name
	LOOK_UP %r8, .L\form\name\()_ask
.L\form\name\()_go_on:
	GO_ON	\form, \name, \exit, 0, %r8
.L\form\name\()_ask:
	cmpq	$0, HEDDLE_WINDOW_DROPPED(%rcx)
	jne	.L\form\name\()_go_on
	subq	$FUNCTION_ROOM, %rsp
	.cfi_adjust_cfa_offset FUNCTION_ROOM
	movq	%rcx, HEDDLE_VISIT_BYTES(%rsp)
	movq	%rdx, HEDDLE_VISIT_SITE(%rsp)
	movq	%rdi, HEDDLE_VISIT_FUNCTION(%rsp)
	movq	%rsi, HEDDLE_VISIT_CALL_SITE(%rsp)
	leaq	FUNCTION_ROOM+8(%rsp), %rax
	movq	%rax, HEDDLE_VISIT_STACK(%rsp)
	KEEP	7, rax
	movl	$HEDDLE_KIND_CALL+HEDDLE_KIND_EXIT*\exit, %eax
	.if \exit
	cmpq	%rsi, %rdx
	jne	1f
	orl	$HEDDLE_KIND_TAIL, %eax			// as in the filtered form
1:
	.endif
	movq	%rax, HEDDLE_VISIT_KIND(%rsp)
	KEEP_PRESERVED
	movq	%rsp, %rdi
	call	heddle_visit
	movq	HEDDLE_VISIT_FUNCTION(%rsp), %rdi
	movq	HEDDLE_VISIT_CALL_SITE(%rsp), %rsi
	movq	HEDDLE_VISIT_BYTES(%rsp), %rdx
	addq	$FUNCTION_ROOM, %rsp
	.cfi_adjust_cfa_offset -(FUNCTION_ROOM)
	GO_ON_VISITED \form, \name, \exit, 0
.L\form\name\()_none:
	ret
	END	\form\name
.endm

.macro ENTRY_HOOK form, name, exit
	BEGIN	\form\name
	SKIP_CALLER \exit
	LOOK_UP %rsi, .L\form\name\()_ask
.L\form\name\()_go_on:
	GO_ON	\form, \name, \exit, 1, %rsi
.L\form\name\()_ask:
	cmpq	$0, HEDDLE_WINDOW_DROPPED(%rcx)
	jne	.L\form\name\()_go_on
	OPEN_FRAME
	leaq	-(ENTRY_ROOM)(%rsp), %rsp
	.cfi_adjust_cfa_offset ENTRY_ROOM
	movq	%rcx, HEDDLE_VISIT_BYTES(%rsp)
	movq	%rdx, HEDDLE_VISIT_SITE(%rsp)
	movq	%rdx, HEDDLE_VISIT_FUNCTION(%rsp)
	movq	$HEDDLE_KIND_CALL+HEDDLE_KIND_ENTRY_WAY+HEDDLE_KIND_EXIT*\exit, HEDDLE_VISIT_KIND(%rsp)
	movq	ENTRY_ROOM+FRAME+8(%rsp), %rax
	movq	%rax, HEDDLE_VISIT_CALL_SITE(%rsp)
	leaq	ENTRY_ROOM+FRAME+8(%rsp), %rax
	movq	%rax, HEDDLE_VISIT_STACK(%rsp)
	KEEP	7, rax
	movq	ENTRY_ROOM+FRAME-8(%rsp), %rax		// where SAVE has put them
	KEEP	0, rax
	movq	ENTRY_ROOM+FRAME-24(%rsp), %rax
	KEEP	1, rax
	movq	ENTRY_ROOM+FRAME-16(%rsp), %rax
	KEEP	2, rax
	movq	ENTRY_ROOM+FRAME-32(%rsp), %rax
	KEEP	4, rax
	KEEP	5, rdi
	KEEP	8, r8
	KEEP	9, r9
	KEEP	10, r10
	KEEP	11, r11
	KEEP_PRESERVED
	.irp	number, 0, 1, 2, 3, 4, 5, 6, 7
	movups	%xmm\number, HEDDLE_VISIT_VECTORS+16*\number(%rsp)
	.endr
	movq	%rsp, %rdi
	leaq	heddle_visit(%rip), %rax
	call	heddle_call_aligned
	movq	HEDDLE_VISIT_BYTES(%rsp), %rdx
	leaq	ENTRY_ROOM(%rsp), %rsp
	.cfi_adjust_cfa_offset -(ENTRY_ROOM)
	CLOSE_FRAME
	GO_ON_VISITED \form, \name, \exit, 1
.L\form\name\()_none:
	RESTORE	\exit
	ret
	END	\form\name
.endm

	.text
	.irp	form, valued, sparse_valued, filtered_valued, brief_valued
	FUNCTION_HOOK \form, __cyg_profile_func_enter, 0
	FUNCTION_HOOK \form, __cyg_profile_func_exit, 1
	ENTRY_HOOK \form, __heddle_fentry__, 0
	ENTRY_HOOK \form, __heddle_return__, 1
	.endr

// bool heddle_append_values(const uint64_t* words, uint64_t count) of values.hpp: appends a record in one restartable sequence, so that no word of
// it is stored once a signal handler's hook has put a record in the same place.
//
// The sparse hooks take an empty announcement for an interruption since the last record that has a time, which this record has not: so an empty
// one is left empty.
	SHARED	heddle_append_values
	BEGIN	heddle_append_values
	FIND_WINDOW .Lvalues_slow
	movq	HEDDLE_WINDOW_OWN_SEQUENCE(%rcx), %rdx
	testq	%rdx, %rdx
	je	.Lvalues_slow
	movq	(%rdx), %r10
	ANNOUNCE .Lvalues
.Lvalues_begin:
	movq	HEDDLE_WINDOW_POSITION(%rcx), %r8
	testq	%r8, %r8
	je	.Lvalues_slow
	movq	(%r8), %r9
	leaq	-16(%r9,%rsi,8), %rax			// the limit is a call's
	cmpq	HEDDLE_WINDOW_LIMIT(%rcx), %rax
	ja	.Lvalues_slow
	xorl	%eax, %eax
1:	movq	(%rdi,%rax,8), %r11
	movq	%r11, (%r9,%rax,8)
	incq	%rax
	cmpq	%rsi, %rax
	jb	1b
	leaq	(%r9,%rsi,8), %r9
	movq	%r9, (%r8)
.Lvalues_commit:
	testq	%r10, %r10
	jne	2f
	movq	%r10, (%rdx)
2:	movl	$1, %eax
	ret
.Lvalues_slow:
	xorl	%eax, %eax
	ret
	SEQUENCE .Lvalues, .Lvalues_begin, .Lvalues_commit, .Lvalues_slow
	END	heddle_append_values

	SET	heddle_valued_hooks, valued, valued
	SET	heddle_sparse_valued_hooks, sparse_valued, sparse_valued
	SET	heddle_filtered_valued_hooks, filtered_valued, filtered_valued
	SET	heddle_brief_valued_hooks, brief_valued, brief_valued
	.section .note.GNU-stack, "", @progbits
