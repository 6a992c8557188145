// void heddle_wait_by(void (*call)(void*), void* with)
//
// Calls `call(with)` in a frame of which the unwinder tells heddle_wait_unwound (waits.cpp) when it takes the frame away: the thread is
// cancelled or ends itself within the call, or what it does once throws. A frame of C++ would need the C++ library for that.
//
//   on entry   rsp+0  return address    rdi call    rsi with
#define HEDDLE_PCREL_SDATA4 0x1b	// DW_EH_PE_pcrel | DW_EH_PE_sdata4

	.text
	.globl	heddle_wait_by
	.hidden	heddle_wait_by
	.type	heddle_wait_by, @function
heddle_wait_by:
	.cfi_startproc
	.cfi_personality HEDDLE_PCREL_SDATA4, heddle_wait_unwound
	subq	$8, %rsp		// calls are made with an aligned stack
	.cfi_adjust_cfa_offset 8
	movq	%rdi, %rax
	movq	%rsi, %rdi
	call	*%rax
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	heddle_wait_by, . - heddle_wait_by
	.section .note.GNU-stack, "", @progbits
