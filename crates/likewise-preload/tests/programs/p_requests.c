/* Requests: handles that are not unique, persistent ones, wildcards without a status. */
#include "quiet.h"

#include <mpi.h>
#include <stdio.h>

#define N 4

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int out[N] = {0}, in[N];
    MPI_Request requests[2 * N], persistent[2];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[i]);
        for (int i = 0; i < N; i++) MPI_Isend(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[N + i]);
        MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE);
        MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Send_init(out, 1, MPI_INT, next, 9, MPI_COMM_WORLD, &persistent[0]);
    MPI_Recv_init(in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &persistent[1]);
    for (int round = 0; round < 5; round++) {
        MPI_Startall(2, persistent);
        int done = 0;
        while (!done) MPI_Testall(2, persistent, &done, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
    MPI_Send(out, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
    MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) printf("%d ranks, %d is before 0\n", size, before);
    MPI_Finalize();
    return 0;
}
