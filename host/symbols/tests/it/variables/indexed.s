# What Clang makes of DWARF 5: the address of a variable is a number in a table of its unit.
#   struct { long number; int word; } first, second;
  .bss
  .globl first, second, _start
  .type first, @object
  .size first, 16
first: .zero 16
  .type second, @object
  .size second, 16
second: .zero 16
  .text
_start: hlt

  .section .debug_addr, "", @progbits
  .long .Laddresses_end - .Laddresses_version   # another unit's
.Laddresses_version:
  .short 5
  .byte 8, 0
  .quad second, first
.Laddresses_end:
  .long .Lown_end - .Lown_version
.Lown_version:
  .short 5
  .byte 8, 0
.Lown:
  .quad first, second
.Lown_end:

  .section .debug_abbrev, "", @progbits
  .uleb128 1, 0x11            # compile_unit
  .byte 1
  .uleb128 0x73, 0x17, 0, 0   # addr_base
  .uleb128 2, 0x13            # structure_type
  .byte 1
  .uleb128 0x0b, 0x0b, 0, 0   # byte_size
  .uleb128 3, 0x0d            # member
  .byte 0
  .uleb128 0x03, 0x08, 0x49, 0x13, 0x38, 0x0b, 0, 0   # name, type, data_member_location
  .uleb128 4, 0x24            # base_type
  .byte 0
  .uleb128 0x0b, 0x0b, 0, 0   # byte_size
  .uleb128 5, 0x34            # variable
  .byte 0
  .uleb128 0x49, 0x13, 0x02, 0x18, 0, 0               # type, location
  .byte 0

  .section .debug_info, "", @progbits
.Lunit:
  .long .Lend - .Lversion
.Lversion:
  .short 5
  .byte 1, 8
  .long 0                     # abbreviations
  .uleb128 1
  .long .Lown
.Lpair:
  .uleb128 2
  .byte 16
  .uleb128 3
  .string "number"
  .long .Llong - .Lunit
  .byte 0
  .uleb128 3
  .string "word"
  .long .Lint - .Lunit
  .byte 8
  .byte 0
.Llong:
  .uleb128 4
  .byte 8
.Lint:
  .uleb128 4
  .byte 4
  .uleb128 5
  .long .Lpair - .Lunit
  .byte 2, 0xa1, 0            # addrx 0
  .uleb128 5
  .long .Lpair - .Lunit
  .byte 2, 0xa1, 1            # addrx 1
  .byte 0
.Lend:
