/* A child that is forked, one that is forked and calls MPI's questions, and a shell. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, yes = 0, status = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++) MPI_Initialized(&yes);
    fflush(stdout);
    if (fork() == 0) {
        for (int i = 0; i < 1000; i++) MPI_Initialized(&yes);
        struct timespec pause = {0, 300000000};
        nanosleep(&pause, NULL);
        for (int i = 0; i < 1000; i++) MPI_Initialized(&yes);
        exit(yes ? 7 : 8);
    }
    wait(&status);
    if (fork() == 0) {
        execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL);
        _exit(1);
    }
    int other = 0;
    wait(&other);
    for (int i = 0; i < 100; i++) MPI_Initialized(&yes);
    printf("rank %d: %d %d %d\n", rank, WEXITSTATUS(status), WEXITSTATUS(other), system("exit 3") >> 8);
    MPI_Finalize();
    return 5;
}
