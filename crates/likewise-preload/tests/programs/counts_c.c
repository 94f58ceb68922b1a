/* Calls every family of MPI and counts each call by name; see counting.h.
 *
 * Usage: counts_c [ROUNDS]. Any number of ranks up to 64.
 */
#include "counting.h"

#include "counts_messages.h"

#include "counts_collectives.h"

#include "counts_objects.h"

#include "counts_windows.h"

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 3, provided;
    if (rounds % 2) C(Init, &argc, &argv);
    else C(Init_thread, &argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    C(Comm_rank, MPI_COMM_WORLD, &rank);
    C(Comm_size, MPI_COMM_WORLD, &size);
    EXPECT(size <= MOST_RANKS);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    fill_lists();
    for (int round = 0; round < rounds; round++) {
        blocking_messages();
        wildcards();
        nonblocking_messages();
        completions();
        persistent();
        probes();
        own_requests();
        blocking_collectives(MPI_COMM_WORLD);
        nonblocking_collectives(MPI_COMM_WORLD);
        of_mpi_4(MPI_COMM_WORLD);
        attributes();
        communicators();
        groups();
        topologies();
        datatypes();
        errors();
        handled = 0;
        operations_and_info();
        questions();
        if (size > 1) windows(); /* Open MPI 4.1 refuses MPI_Win_create on one rank */
        if (round == 0) files(); /* Open MPI 4.1 often hangs in a second MPI_File_open of 8 ranks */
    }
    C(Barrier, MPI_COMM_WORLD);
    count_call("MPI_Finalize");
    write_counts(rank);
    MPI_Finalize();
    if (rank == 0) printf("counts_c: done\n");
    return 0;
}
