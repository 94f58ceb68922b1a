! Calls MPI by mpif.h and counts each call by name; see counting.h.
program counts_mpifh
  implicit none
  include 'mpif.h'
  external add
  include 'counts_body.inc'
contains
  include 'counting.inc'
end program

! An operation of our own.
subroutine add(in, in_out, length, type)
  implicit none
  integer :: length, type, in(length), in_out(length)
  in_out = in_out + in
  type = type
end subroutine
