/* Ends in a way that the first argument names, after 0.4 s of calls. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double begin = MPI_Wtime();
    long value = 0, sum;
    int done = 0;
    while (!done) {
        int over = MPI_Wtime() - begin > 0.4;
        MPI_Allreduce(&over, &done, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    printf("rank %d\n", rank);
    fflush(stdout);
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "kill")) {
        kill(getpid(), SIGKILL);
    } else if (!strcmp(how, "abort")) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    } else if (!strcmp(how, "exit")) {
        exit(4);
    }
    MPI_Finalize();
    return 6;
}
