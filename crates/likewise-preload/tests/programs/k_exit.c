/* Ends without MPI_Finalize, with exit code 5.
 *
 * Usage: k_exit [ROUNDS] [HOW]. HOW: 0 exit, 1 _exit, 2 return from main.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 100, how = argc > 2 ? atoi(argv[2]) : 0, rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < rounds; i++) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("k_exit: %d rounds\n", rounds);
    fflush(stdout);
    if (how == 0) exit(5);
    if (how == 1) _exit(5);
    return 5;
}
