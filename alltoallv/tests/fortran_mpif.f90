! MPI_Alltoallv by mpif.h: rank r sends r + 1 integers to each; then in place.
program all_to_all
  implicit none
  include 'mpif.h'
  integer :: ierror, rank, ranks, i, wrong
  integer, allocatable :: counts(:), at(:), incoming(:), from(:), send(:), receive(:)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  allocate (counts(ranks), at(ranks), incoming(ranks), from(ranks))
  counts = rank + 1
  incoming = [(i, i=1, ranks)]
  at = [((i - 1)*(rank + 1), i=1, ranks)]
  from = [(i*(i - 1)/2, i=1, ranks)]
  allocate (send(ranks*(rank + 1)), receive(ranks*(ranks + 1)/2))
  send = rank
  receive = -1
  call MPI_Alltoallv(send, counts, at, MPI_INTEGER, receive, incoming, from, MPI_INTEGER, &
                     MPI_COMM_WORLD, ierror)
  wrong = 0
  do i = 1, ranks
    wrong = wrong + count(receive(from(i) + 1:from(i) + i) /= i - 1)
  end do
  counts = 1
  at = [(i - 1, i=1, ranks)]
  receive(1:ranks) = [(rank*1000 + i, i=1, ranks)]
  call MPI_Alltoallv(MPI_IN_PLACE, counts, at, MPI_INTEGER, receive, counts, at, MPI_INTEGER, &
                     MPI_COMM_WORLD, ierror)
  wrong = wrong + count(receive(1:ranks) /= [((i - 1)*1000 + rank + 1, i=1, ranks)])
  if (wrong /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  if (rank == 0) print '(a)', 'fortran: as expected'
  call MPI_Finalize(ierror)
end program
