/* Starts a copy of itself while it runs, and talks to it.
 *
 * Usage: k_spawn [CHILDREN].
 */
#include "quiet.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int children = argc > 1 ? atoi(argv[1]) : 2, rank, value = 0;
    MPI_Comm parent, others;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
        value = 42;
        MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, others);
        MPI_Comm_disconnect(&others);
        if (rank == 0) printf("k_spawn: %d started\n", children);
    } else {
        MPI_Bcast(&value, 1, MPI_INT, 0, parent);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm_disconnect(&parent);
        if (value != 42) return 1;
    }
    MPI_Finalize();
    return 0;
}
