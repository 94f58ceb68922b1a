/* Heat in two dimensions: halos of four neighbours, two kinds of work, and the
 * largest change every ten steps.
 *
 * Usage: k_stencil [STEPS] [CELLS] [IMBALANCE]. Each rank has CELLS x CELLS
 * cells. The last rank does IMBALANCE times the work of the others in relax()
 * (1, the default: as much as they do).
 */
#include "quiet.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int cells, width;

/* Memory-bound: one sweep over the cells. */
__attribute__((noinline)) static double relax(const double *now, double *next) {
    double change = 0;
    for (int y = 1; y <= cells; y++) {
        for (int x = 1; x <= cells; x++) {
            int at = y * width + x;
            next[at] = 0.25 * (now[at - 1] + now[at + 1] + now[at - width] + now[at + width]);
            change = fmax(change, fabs(next[at] - now[at]));
        }
    }
    return change;
}

/* Compute-bound: an expensive function of a few cells. */
__attribute__((noinline)) static void react(double *field) {
    for (int y = 1; y <= cells; y += 4) {
        for (int x = 1; x <= cells; x += 4) {
            double value = field[y * width + x];
            for (int k = 0; k < 20; k++) value = value * 0.999 + 0.001 * sin(value);
            field[y * width + x] = value;
        }
    }
}

__attribute__((noinline)) static void halo(double *field, MPI_Comm grid, MPI_Datatype column) {
    int up, down, before, after;
    MPI_Request requests[8];
    double *first = field + width + 1, *last = field + cells * width + 1;
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &before, &after);
    MPI_Irecv(field + 1, cells, MPI_DOUBLE, up, 0, grid, &requests[0]);
    MPI_Irecv(field + (cells + 1) * width + 1, cells, MPI_DOUBLE, down, 1, grid, &requests[1]);
    MPI_Irecv(field + width, 1, column, before, 2, grid, &requests[2]);
    MPI_Irecv(field + width + cells + 1, 1, column, after, 3, grid, &requests[3]);
    MPI_Isend(last, cells, MPI_DOUBLE, down, 0, grid, &requests[4]);
    MPI_Isend(first, cells, MPI_DOUBLE, up, 1, grid, &requests[5]);
    MPI_Isend(field + width + cells, 1, column, after, 2, grid, &requests[6]);
    MPI_Isend(first, 1, column, before, 3, grid, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 200, rank, size, dims[2] = {0, 0}, periods[2] = {0, 0};
    cells = argc > 2 ? atoi(argv[2]) : 256;
    double imbalance = argc > 3 ? atof(argv[3]) : 1, change = 0, largest = 0;
    width = cells + 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Datatype column;
    MPI_Type_vector(cells, 1, width, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    double *now = calloc((size_t)width * (size_t)width, sizeof(double)), *next = calloc((size_t)width * (size_t)width, sizeof(double));
    if (!now || !next) MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0) now[width * cells / 2 + cells / 2] = 1e6;
    int sweeps = rank == size - 1 ? (int)(2 * imbalance + 0.5) : 2;
    double start = MPI_Wtime();
    for (int step = 1; step <= steps; step++) {
        halo(now, grid, column);
        for (int sweep = 0; sweep < sweeps; sweep++) change = relax(now, next);
        double *swap = now;
        now = next;
        next = swap;
        MPI_Barrier(grid); /* parts the two kinds of work */
        react(now);
        if (step % 10 == 0) MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, grid);
    }
    double seconds = MPI_Wtime() - start;
    if (rank == 0) printf("k_stencil: %d steps in %.3f s, largest change %g\n", steps, seconds, largest);
    free(now);
    free(next);
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
