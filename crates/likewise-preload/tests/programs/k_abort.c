/* Ends in the middle: after N rounds the last rank calls MPI_Abort with 7, or
 * is killed by signal S.
 *
 * Usage: k_abort [N] [S].
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 100, by = argc > 2 ? atoi(argv[2]) : 0, rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < rounds; i++) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == size - 1) {
        printf("k_abort: %d rounds\n", rounds);
        fflush(stdout);
        if (by) raise(by);
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    /* The others wait for a message that never comes. */
    MPI_Recv(&sum, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
