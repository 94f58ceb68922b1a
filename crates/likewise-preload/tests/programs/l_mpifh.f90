program l_mpifh
  implicit none
  include 'mpif.h'
  include 'l_fortran.inc'
end program
