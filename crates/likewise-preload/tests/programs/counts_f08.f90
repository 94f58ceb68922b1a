! Calls MPI by "use mpi_f08" and counts each call by name; see counting.h.
! Every other call leaves ierror out, as mpi_f08 allows.
module operations
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
contains
  ! An operation of our own.
  subroutine add(in, in_out, length, type)
    type(c_ptr), value :: in, in_out
    integer :: length
    type(MPI_Datatype) :: type
    integer, pointer :: from(:), to(:)
    call c_f_pointer(in, from, [length])
    call c_f_pointer(in_out, to, [length])
    if (type == MPI_INTEGER) to = to + from
  end subroutine
end module

program counts_f08
  use mpi_f08
  use operations
  implicit none
  integer, parameter :: most = 64
  integer :: rank, ranks, left, right, ierr, i, k, way, from, to, index, outcount, total, code, length, keyval
  integer :: indices(4), sent(4), got(4), wide(most), many(most), ones(most), places(most), dims(2), coords(2)
  type(MPI_Request) :: requests(4)
  type(MPI_Status) :: statuses(4), status
  type(MPI_Comm) :: comm, ring, grid, half
  type(MPI_Datatype) :: column, bottom
  type(MPI_Op) :: op
  type(MPI_Group) :: group, other
  type(MPI_Win) :: win
  type(MPI_File) :: file
  type(MPI_Info) :: info
  type(MPI_Message) :: message
  logical :: flag, periods(2)
  integer(kind=MPI_ADDRESS_KIND) :: addresses(1), value, bytes
  integer(kind=MPI_OFFSET_KIND) :: offset
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=1024) :: folder
  integer, save, asynchronous :: window(8)
  include 'counting_data.inc'

  call c('MPI_Init'); call MPI_Init()
  call c('MPI_Comm_rank'); call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call c('MPI_Comm_size'); call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  ones = 1
  places = [(i - 1, i = 1, most)]
  call messages()
  call collectives()
  call objects()
  call storage()
  call c('MPI_Barrier'); call MPI_Barrier(MPI_COMM_WORLD)
  call c('MPI_Finalize')
  call write_counts(rank)
  call MPI_Finalize()

contains
  include 'counting.inc'

  subroutine messages()
    do way = 0, 7
      sent = rank
      call c('MPI_Irecv')
      call MPI_Irecv(got(1:1), 1, MPI_INTEGER, merge(MPI_ANY_SOURCE, left, way == 1), 11, MPI_COMM_WORLD, requests(1))
      call c('MPI_Irecv')
      call MPI_Irecv(got(2:2), 1, MPI_INTEGER, left, 12, MPI_COMM_WORLD, requests(2), ierr)
      call c('MPI_Barrier'); call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call c('MPI_Isend'); call MPI_Isend(sent(1:1), 1, MPI_INTEGER, right, 11, MPI_COMM_WORLD, requests(3))
      call c('MPI_Issend'); call MPI_Issend(sent(2:2), 1, MPI_INTEGER, right, 12, MPI_COMM_WORLD, requests(4), ierr)
      total = 4
      select case (way)
      case (0)
        call c('MPI_Waitall'); call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
      case (1)
        call c('MPI_Waitall'); call MPI_Waitall(4, requests, statuses, ierr)
        call expect(statuses(1)%MPI_SOURCE == left, 1)
      case (2)
        do k = 1, 4
          flag = .false.
          do while (.not. flag)
            call c('MPI_Test'); call MPI_Test(requests(k), flag, MPI_STATUS_IGNORE)
          end do
        end do
      case (3)
        flag = .false.
        do while (.not. flag)
          call c('MPI_Testall'); call MPI_Testall(4, requests, flag, statuses)
        end do
      case (4)
        do while (total > 0)
          call c('MPI_Testany'); call MPI_Testany(4, requests, index, flag, MPI_STATUS_IGNORE, ierr)
          if (flag .and. index /= MPI_UNDEFINED) total = total - 1
        end do
      case (5)
        do while (total > 0)
          call c('MPI_Testsome'); call MPI_Testsome(4, requests, outcount, indices, MPI_STATUSES_IGNORE)
          total = total - outcount
        end do
      case (6)
        do k = 1, 4
          call c('MPI_Waitany'); call MPI_Waitany(4, requests, index, status)
        end do
      case default
        do while (total > 0)
          call c('MPI_Waitsome'); call MPI_Waitsome(4, requests, outcount, indices, statuses, ierr)
          total = total - outcount
        end do
      end select
      call expect(got(1) == left .and. got(2) == left, 2)
      call c('MPI_Barrier'); call MPI_Barrier(MPI_COMM_WORLD)
    end do

    if (rank > 0) then
      do i = 1, 5
        call c('MPI_Send'); call MPI_Send(sent, 1, MPI_INTEGER, 0, i, MPI_COMM_WORLD)
      end do
    else
      do i = 1, 5*(ranks - 1)
        call c('MPI_Recv'); call MPI_Recv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status)
        call expect(got(1) == status%MPI_SOURCE, 3)
      end do
    end if
    call c('MPI_Barrier'); call MPI_Barrier(MPI_COMM_WORLD)
    call c('MPI_Isend'); call MPI_Isend(sent, 1, MPI_INTEGER, right, 20, MPI_COMM_WORLD, requests(1))
    flag = .false.
    do while (.not. flag)
      call c('MPI_Iprobe'); call MPI_Iprobe(MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE)
    end do
    call c('MPI_Mprobe'); call MPI_Mprobe(left, 20, MPI_COMM_WORLD, message, status)
    call c('MPI_Get_count'); call MPI_Get_count(status, MPI_INTEGER, k)
    call expect(k == 1, 4)
    call c('MPI_Mrecv'); call MPI_Mrecv(got, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE)
    call c('MPI_Wait'); call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call c('MPI_Send'); call MPI_Send(sent, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, ierr)
    call c('MPI_Sendrecv')
    call MPI_Sendrecv(sent, 1, MPI_INTEGER, right, 21, got, 1, MPI_INTEGER, left, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call c('MPI_Recv_init'); call MPI_Recv_init(got, 1, MPI_INTEGER, left, 30, MPI_COMM_WORLD, requests(1))
    call c('MPI_Send_init'); call MPI_Send_init(sent, 1, MPI_INTEGER, right, 30, MPI_COMM_WORLD, requests(2))
    do i = 1, 10
      call c('MPI_Startall'); call MPI_Startall(2, requests)
      call c('MPI_Waitall'); call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    end do
    call c('MPI_Start'); call MPI_Start(requests(1))
    call c('MPI_Start'); call MPI_Start(requests(2))
    call c('MPI_Waitall'); call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    do k = 1, 2
      call c('MPI_Request_free'); call MPI_Request_free(requests(k))
    end do
  end subroutine

  subroutine collectives()
    do i = 1, 5
      wide = rank
      call c('MPI_Bcast'); call MPI_Bcast(wide, 1, MPI_INTEGER, mod(i, ranks), MPI_COMM_WORLD)
      sent(1) = rank
      call c('MPI_Allreduce'); call MPI_Allreduce(MPI_IN_PLACE, sent, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
      call expect(sent(1) == ranks*(ranks - 1)/2, 5)
      sent(1) = rank
      call c('MPI_Allreduce'); call MPI_Allreduce(sent, got, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
      call c('MPI_Reduce'); call MPI_Reduce(sent, got, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
      call c('MPI_Gatherv')
      call MPI_Gatherv(sent, 1, MPI_INTEGER, many, ones, places, MPI_INTEGER, 0, MPI_COMM_WORLD)
      call c('MPI_Scatterv')
      call MPI_Scatterv(many, ones, places, MPI_INTEGER, got, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      call expect(got(1) == rank, 6)
      call c('MPI_Allgather'); call MPI_Allgather(sent, 1, MPI_INTEGER, many, 1, MPI_INTEGER, MPI_COMM_WORLD)
      call expect(many(ranks) == ranks - 1, 7)
      call c('MPI_Alltoallv')
      call MPI_Alltoallv(wide, ones, places, MPI_INTEGER, many, ones, places, MPI_INTEGER, MPI_COMM_WORLD)
      call c('MPI_Scan'); call MPI_Scan(sent, got, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
      call expect(got(1) == rank*(rank + 1)/2, 8)
      call c('MPI_Iallreduce')
      call MPI_Iallreduce(sent, got, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1))
      call c('MPI_Ibcast'); call MPI_Ibcast(wide, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(2), ierr)
      call c('MPI_Waitall'); call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    end do
    call c('MPI_Op_create'); call MPI_Op_create(add, .true., op)
    call c('MPI_Allreduce'); call MPI_Allreduce(sent, got, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
    call expect(got(1) == ranks*(ranks - 1)/2, 9)
    call c('MPI_Op_free'); call MPI_Op_free(op)
  end subroutine

  subroutine objects()
    call c('MPI_Comm_split'); call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half)
    call c('MPI_Allreduce'); call MPI_Allreduce(sent, got, 1, MPI_INTEGER, MPI_SUM, half)
    call c('MPI_Comm_free'); call MPI_Comm_free(half)
    call c('MPI_Comm_dup'); call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call c('MPI_Comm_set_name'); call MPI_Comm_set_name(comm, 'a copy')
    call c('MPI_Comm_get_name'); call MPI_Comm_get_name(comm, text, length)
    call expect(text(1:length) == 'a copy', 10)
    value = 0
    call c('MPI_Comm_create_keyval')
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, value)
    value = 7
    call c('MPI_Comm_set_attr'); call MPI_Comm_set_attr(comm, keyval, value)
    call c('MPI_Comm_get_attr'); call MPI_Comm_get_attr(comm, keyval, value, flag)
    call expect(flag .and. value == 7, 11)
    call c('MPI_Comm_delete_attr'); call MPI_Comm_delete_attr(comm, keyval)
    call c('MPI_Comm_free_keyval'); call MPI_Comm_free_keyval(keyval)
    call c('MPI_Comm_set_errhandler'); call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
    call c('MPI_Send'); call MPI_Send(sent, 1, MPI_INTEGER, ranks + 5, 1, comm, code)
    call expect(code /= MPI_SUCCESS, 12)
    call c('MPI_Error_string'); call MPI_Error_string(code, text, length)
    call c('MPI_Comm_free'); call MPI_Comm_free(comm)
    call c('MPI_Comm_group'); call MPI_Comm_group(MPI_COMM_WORLD, group)
    call c('MPI_Group_incl'); call MPI_Group_incl(group, 1, places, other)
    call c('MPI_Comm_create'); call MPI_Comm_create(MPI_COMM_WORLD, other, comm)
    if (comm /= MPI_COMM_NULL) then
      call c('MPI_Comm_free'); call MPI_Comm_free(comm, ierr)
    end if
    call c('MPI_Group_free'); call MPI_Group_free(other)
    call c('MPI_Group_free'); call MPI_Group_free(group)
    dims = 0
    periods = .true.
    call c('MPI_Dims_create'); call MPI_Dims_create(ranks, 2, dims)
    call c('MPI_Cart_create'); call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid)
    call c('MPI_Cart_coords'); call MPI_Cart_coords(grid, rank, 2, coords)
    call c('MPI_Comm_free'); call MPI_Comm_free(grid)
    dims(1) = ranks
    call c('MPI_Cart_create'); call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, .false., ring, ierr)
    call c('MPI_Cart_shift'); call MPI_Cart_shift(ring, 0, 1, from, to)
    call expect(from == left .and. to == right, 13)
    call c('MPI_Neighbor_allgather'); call MPI_Neighbor_allgather(sent, 1, MPI_INTEGER, many, 1, MPI_INTEGER, ring)
    call c('MPI_Comm_free'); call MPI_Comm_free(ring)

    call c('MPI_Type_vector'); call MPI_Type_vector(2, 1, 2, MPI_INTEGER, column)
    call c('MPI_Type_commit'); call MPI_Type_commit(column)
    call c('MPI_Sendrecv')
    call MPI_Sendrecv(sent, 1, column, right, 40, got, 1, column, left, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call c('MPI_Type_free'); call MPI_Type_free(column)
    call c('MPI_Get_address'); call MPI_Get_address(window, addresses(1))
    call c('MPI_Type_create_struct'); call MPI_Type_create_struct(1, [1], addresses, [MPI_INTEGER], bottom)
    call c('MPI_Type_commit'); call MPI_Type_commit(bottom)
    window(1) = 41
    call c('MPI_Bcast'); call MPI_Bcast(MPI_BOTTOM, 1, bottom, 0, MPI_COMM_WORLD)
    call c('MPI_Type_free'); call MPI_Type_free(bottom)
  end subroutine

  subroutine storage()
    if (ranks > 1) then
      bytes = 32
      value = 0
      sent(1) = rank
      call c('MPI_Win_create'); call MPI_Win_create(window, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
      call c('MPI_Win_fence'); call MPI_Win_fence(0, win)
      call c('MPI_Put'); call MPI_Put(sent, 1, MPI_INTEGER, right, value, 1, MPI_INTEGER, win)
      call c('MPI_Win_fence'); call MPI_Win_fence(0, win)
      call expect(window(1) == left, 14)
      call c('MPI_Win_free'); call MPI_Win_free(win)
    end if
    call get_environment_variable('COUNTS_DIR', folder)
    call c('MPI_File_open')
    call MPI_File_open(MPI_COMM_WORLD, trim(folder)//'/file.bin', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierr)
    call expect(ierr == MPI_SUCCESS, 15)
    offset = 4*rank
    call c('MPI_File_write_at'); call MPI_File_write_at(file, offset, sent, 1, MPI_INTEGER, MPI_STATUS_IGNORE)
    call c('MPI_File_read_at'); call MPI_File_read_at(file, offset, got, 1, MPI_INTEGER, status)
    call expect(got(1) == sent(1), 16)
    call c('MPI_File_close'); call MPI_File_close(file)
    call c('MPI_Info_create'); call MPI_Info_create(info)
    call c('MPI_Info_set'); call MPI_Info_set(info, 'colour', 'red')
    call c('MPI_Info_get'); call MPI_Info_get(info, 'colour', 16, text, flag)
    call expect(flag, 17)
    call c('MPI_Info_free'); call MPI_Info_free(info)
  end subroutine
end program
