/* The cheaper way to make a program recordable, for GCC on x86-64. Not included by hand: `heddle
 * flags --way fentry` prints
 *
 *   -pg -mfentry -minstrument-return=call -include …/heddle/return.h
 *
 * With these, GCC calls __fentry__ as the first thing in a function and __return__ as the last
 * thing before it returns or jumps to another (a tail call). Both are defined here, hidden, once in
 * each program or library: they jump to the recorder where it is loaded (`heddle record`), and
 * return where it is not. So nothing changes at linking, and static programs run, too.
 *
 * Nothing is declared or defined for the program itself to see.
 */
#ifndef HEDDLE_RETURN_H
#define HEDDLE_RETURN_H
#ifndef __ASSEMBLER__

#if !defined(__x86_64__) || defined(__ILP32__) || !defined(__GNUC__) || defined(__clang__)
#error "heddle/return.h is for GCC on x86-64; elsewhere use the flags that `heddle flags` prints"
#else

/* __return__ changes no register, no flag, and nothing but its own red zone: the caller's result
 * may be in any of them, before a tail jump its arguments. jrcxz is the one test that leaves the
 * flags alone. __fentry__ may change r11 and the flags.
 *
 * The recorder's two are weak: 0 where it is not loaded.
 *
 * -flto puts what several files define here into one assembly: the first is taken.
 *
 * -pg on the link line brings start-up code that begins gprof's profile and writes gmon.out at
 * exit. What it calls is defined here, too, and does nothing. */
__asm__(
    "\t.ifndef __fentry__\n"
    "\t.pushsection .text.__return__, \"axG\", @progbits, __return__, comdat\n"
    "\t.weak __heddle_fentry__, __heddle_return__\n"
    "\t.weak __fentry__, __return__, __monstartup, _mcleanup\n"
    "\t.hidden __fentry__, __return__, __monstartup, _mcleanup\n"
    "\t.type __fentry__, @function\n"
    "\t.type __return__, @function\n"
    "\t.type __monstartup, @function\n"
    "\t.type _mcleanup, @function\n"
    "\t.p2align 4\n"
    "__fentry__:\n"
    "\t.cfi_startproc\n"
    "\tmovq __heddle_fentry__@GOTPCREL(%rip), %r11\n"
    "\ttestq %r11, %r11\n"
    "\tje 1f\n"
    "\tjmp *%r11\n"
    "1:\tret\n"
    "\t.cfi_endproc\n"
    "\t.size __fentry__, . - __fentry__\n"
    "\t.p2align 4\n"
    "__return__:\n"
    "\t.cfi_startproc\n"
    "\t.cfi_def_cfa_offset 16\n"
    "\tmovq %rcx, -8(%rsp)\n"
    "\tmovq __heddle_return__@GOTPCREL(%rip), %rcx\n"
    "\tjrcxz 1f\n"
    "\tmovq -8(%rsp), %rcx\n"
    "\tjmp *__heddle_return__@GOTPCREL(%rip)\n"
    "1:\tmovq -8(%rsp), %rcx\n"
    "\tret\n"
    "\t.cfi_endproc\n"
    "\t.size __return__, . - __return__\n"
    "__monstartup:\n"
    "_mcleanup:\n"
    "\t.cfi_startproc\n"
    "\tret\n"
    "\t.cfi_endproc\n"
    "\t.size __monstartup, . - __monstartup\n"
    "\t.size _mcleanup, . - _mcleanup\n"
    "\t.popsection\n"
    "\t.endif\n");

#endif
#endif
#endif
