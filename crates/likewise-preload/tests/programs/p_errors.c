/* Calls that fail and return. */
#include "quiet.h"

#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;

static void jump(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    (void)code;
    longjmp(back, 1);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int rank, value = 0, failed = 0;
    MPI_Comm_rank(comm, &rank);
    failed += MPI_Send(&value, 1, MPI_INT, 12345, 0, comm) != MPI_SUCCESS;
    failed += MPI_Send(&value, 1, MPI_DATATYPE_NULL, rank, 0, comm) != MPI_SUCCESS;
    failed += MPI_Send(&value, -1, MPI_INT, rank, 0, comm) != MPI_SUCCESS;
    failed += MPI_Bcast(&value, 1, MPI_INT, 777, comm) != MPI_SUCCESS;
    MPI_Request request;
    failed += MPI_Isend(&value, 1, MPI_INT, -77, 0, comm, &request) != MPI_SUCCESS;
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    if (setjmp(back) == 0) MPI_Send(&value, 1, MPI_INT, 12345, 0, comm);
    else failed++;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Errhandler_free(&handler);
    if (rank == 0) printf("%d calls failed\n", failed);
    MPI_Finalize();
    return 0;
}
