/* Loads a library that calls MPI, and unloads it: the call paths through it
 * then lead into memory that holds something else or nothing.
 *
 * Usage: k_dlopen LIBRARY [ROUNDS]. The library is plugin.c, built with
 * -shared -fPIC.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "k_dlopen: which library?\n");
        return 2;
    }
    int rounds = argc > 2 ? atoi(argv[2]) : 5, rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < rounds; i++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "k_dlopen: %s\n", dlerror());
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        int (*reduce_all)(int) = NULL;
        *(void **)&reduce_all = dlsym(library, "reduce_all");
        if (!reduce_all) MPI_Abort(MPI_COMM_WORLD, 2);
        for (int k = 0; k < 10; k++) sum += reduce_all(rank);
        dlclose(library);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) printf("k_dlopen: %d rounds, sum %d\n", rounds, sum);
    MPI_Finalize();
    return 0;
}
