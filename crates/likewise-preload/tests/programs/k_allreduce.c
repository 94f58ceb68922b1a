/* What a call costs: N times MPI_Allreduce of one double on one rank, from
 * DEPTH functions deep.
 *
 * Usage: k_allreduce [N] [DEPTH]. Prints ns for each call.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static double loop(long n) {
    double value = 1, sum = 0, start = MPI_Wtime();
    for (long i = 0; i < n; i++) MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Wtime() - start;
}

__attribute__((noinline)) static double deep(int depth, long n) {
    double seconds = depth > 0 ? deep(depth - 1, n) : loop(n);
    __asm__ volatile("" ::: "memory"); /* not a tail call, which would take no frame */
    return seconds;
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    int depth = argc > 2 ? atoi(argv[2]) : 5, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    deep(depth, n / 10); /* warm */
    double seconds = deep(depth, n);
    if (rank == 0) printf("%.1f ns per call, %ld calls\n", 1e9 * seconds / (double)n, n);
    MPI_Finalize();
    return 0;
}
