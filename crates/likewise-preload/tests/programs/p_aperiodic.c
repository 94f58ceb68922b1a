/* Calls without any period: as many as the first argument says. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    long n = argc > 1 ? atol(argv[1]) : 1000;
    static double a[1 << 12], b[1 << 12];
    unsigned long s = 88172645463325252UL;
    for (long i = 0; i < n; i++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        MPI_Allreduce(a, b, (int)(s >> 20) & 0xfff, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
        if (s >> 40 & 1) MPI_Barrier(MPI_COMM_SELF);
    }
    MPI_Finalize();
    return 0;
}
