! The calls with large counts by use mpi_f08, whose names are those of the small ones: rank r sends
! r + 1 integers to each, in MPI_Alltoallv, MPI_Alltoallw and a persistent request; one to each, in
! MPI_Alltoall.
program all_to_all
  use mpi_f08
  implicit none
  integer :: rank, ranks, provided, i, wrong
  integer(MPI_COUNT_KIND), allocatable :: counts(:), incoming(:)
  integer(MPI_ADDRESS_KIND), allocatable :: at(:), from(:)
  integer, allocatable, asynchronous :: send(:), receive(:)
  type(MPI_Datatype), allocatable :: types(:)
  type(MPI_Request) :: request

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  allocate (counts(ranks), at(ranks), incoming(ranks), from(ranks), types(ranks))
  counts = int(rank + 1, MPI_COUNT_KIND)
  incoming = [(int(i, MPI_COUNT_KIND), i=1, ranks)]
  at = [(int((i - 1)*(rank + 1), MPI_ADDRESS_KIND), i=1, ranks)]
  from = [(int(i*(i - 1)/2, MPI_ADDRESS_KIND), i=1, ranks)]
  allocate (send(ranks*(rank + 1)), receive(ranks*(ranks + 1)/2))
  send = rank
  wrong = 0

  receive = -1
  call MPI_Alltoallv(send, counts, at, MPI_INTEGER, receive, incoming, from, MPI_INTEGER, &
                     MPI_COMM_WORLD)
  call compare()

  receive = -1
  types = MPI_INTEGER
  call MPI_Alltoallw(send, counts, 4*at, types, receive, incoming, 4*from, types, MPI_COMM_WORLD)
  call compare()

  receive = -1
  call MPI_Alltoallv_init(send, counts, at, MPI_INTEGER, receive, incoming, from, MPI_INTEGER, &
                          MPI_COMM_WORLD, MPI_INFO_NULL, request)
  do i = 1, 2
    receive = -1
    call MPI_Start(request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call compare()
  end do
  call MPI_Request_free(request)

  send(1:ranks) = [(rank*1000 + i, i=1, ranks)]
  call MPI_Alltoall(send, 1_MPI_COUNT_KIND, MPI_INTEGER, receive, 1_MPI_COUNT_KIND, MPI_INTEGER, &
                    MPI_COMM_WORLD)
  wrong = wrong + count(receive(1:ranks) /= [((i - 1)*1000 + rank + 1, i=1, ranks)])

  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
  if (rank == 0) print '(a)', 'fortran: as expected'
  call MPI_Finalize()

contains
  subroutine compare()
    integer :: k
    do k = 1, ranks
      wrong = wrong + count(receive(from(k) + 1:from(k) + k) /= k - 1)
    end do
  end subroutine
end program
