program l_usempi
  use mpi
  implicit none
  include 'l_fortran.inc'
end program
