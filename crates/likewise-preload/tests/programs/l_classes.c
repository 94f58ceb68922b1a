/* Three classes of ranks: of every eight, one computes four times as long as
 * most, and two twice as long. A marker after every step.
 *
 * Usage: l_classes [STEPS] [MICROSECONDS]. On standard output, the time that
 * each rank computed in all, in ns, as it measured it itself.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

/* Asleep, so that it takes as long whatever the machine does. */
__attribute__((noinline)) static double compute(double ns) {
    double begin = now();
    struct timespec time = {0, (long)ns};
    nanosleep(&time, NULL);
    return now() - begin;
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 40, rank, size;
    double unit = 1e3 * (argc > 2 ? atof(argv[2]) : 500), own = 0, in = 1, out;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int times = rank % 8 == 0 ? 4 : rank % 8 < 3 ? 2 : 1;
    for (int step = 0; step < steps; step++) {
        own += compute(times * unit);
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Pcontrol(10);
    }
    double *all = malloc(size * sizeof *all);
    MPI_Gather(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int other = 0; other < size; other++) printf("%.0f\n", all[other]);
    free(all);
    MPI_Finalize();
    return 0;
}
