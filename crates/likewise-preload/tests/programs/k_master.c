/* A master hands out pieces of work to whoever asks; how much work a piece is
 * varies.
 *
 * Usage: k_master [PIECES] [WORK]. Two ranks or more.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ASK = 1, PIECE = 2, STOP = 3 };

__attribute__((noinline)) static double work_on(int piece, int work) {
    double value = piece;
    /* Between 1 and 4 times the work, the same in every run. */
    int turns = work * (1 + (piece * 7919) % 4);
    for (int i = 0; i < turns; i++) value = value * 0.999 + sin(value);
    return value;
}

__attribute__((noinline)) static double hand_out(int pieces, int workers) {
    double sum = 0, result;
    int next = 0;
    while (workers > 0) {
        MPI_Status status;
        MPI_Recv(&result, 1, MPI_DOUBLE, MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &status);
        sum += result;
        if (next < pieces) {
            MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, PIECE, MPI_COMM_WORLD);
            next++;
        } else {
            MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, STOP, MPI_COMM_WORLD);
            workers--;
        }
    }
    return sum;
}

__attribute__((noinline)) static void serve(int work) {
    double result = 0;
    for (;;) {
        int piece;
        MPI_Status status;
        MPI_Send(&result, 1, MPI_DOUBLE, 0, ASK, MPI_COMM_WORLD);
        MPI_Recv(&piece, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == STOP) return;
        result = work_on(piece, work);
    }
}

int main(int argc, char **argv) {
    int pieces = argc > 1 ? atoi(argv[1]) : 2000, work = argc > 2 ? atoi(argv[2]) : 20000, rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr, "k_master: two ranks or more, please\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double start = MPI_Wtime(), sum = 0;
    if (rank == 0) sum = hand_out(pieces, size - 1);
    else serve(work);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("k_master: %d pieces in %.3f s, sum %.6f\n", pieces, MPI_Wtime() - start, sum);
    MPI_Finalize();
    return 0;
}
