/* Ends a program of several ranks where something is not as it must be. */
#ifndef VAS_A2AV_TESTS_CHECK_H
#define VAS_A2AV_TESTS_CHECK_H

#include <mpi.h>
#include <stdio.h>

#define CHECK(what) ((what) ? (void)0 : check_failed(__FILE__, __LINE__, #what))

static inline void check_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s: line %d: not true: %s\n", file, line, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#endif
