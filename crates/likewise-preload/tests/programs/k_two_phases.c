/* Two phases of known share, each between two calls of MPI: assemble() takes a
 * third of the time, solve() two thirds, on every rank.
 *
 * Usage: k_two_phases [STEPS] [WORK].
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static volatile double sink;

__attribute__((noinline)) static void assemble(int work) {
    double value = 1;
    for (int i = 0; i < work; i++) value = sqrt(value + i);
    sink = value;
}

__attribute__((noinline)) static void solve(int work) {
    double value = 1;
    for (int i = 0; i < 2 * work; i++) value = sqrt(value + i);
    sink = value;
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 300, work = argc > 2 ? atoi(argv[2]) : 200000, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double start = MPI_Wtime(), norm = 1, sum;
    for (int step = 0; step < steps; step++) {
        assemble(work);
        MPI_Barrier(MPI_COMM_WORLD);
        solve(work);
        MPI_Allreduce(&norm, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0) printf("k_two_phases: %d steps in %.3f s\n", steps, MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}
