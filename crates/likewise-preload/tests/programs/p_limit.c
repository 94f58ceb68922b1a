/* Files may not grow beyond ten bytes: what writes more gets a signal that ends it. */
#include "quiet.h"

#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    struct rlimit limit = {10, 10};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    for (int i = 0; i < 10; i++) {
        usleep(50000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 9;
}
