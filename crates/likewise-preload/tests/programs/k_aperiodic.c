/* Calls without any period: which call comes next, how much it sends and with
 * which tag are drawn from a generator.
 *
 * Usage: k_aperiodic [N] [SEED]. Any number of ranks; each talks to itself
 * alone. Prints ns for each call and the peak memory of rank 0.
 */
#include "quiet.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static uint64_t state;

/* xorshift64*, Vigna 2016. */
static uint32_t draw(uint32_t below) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)(((state * 2685821657736338717ull) >> 32) % below);
}

static double from[1024], to[1024];

__attribute__((noinline)) static int message(int count, int tag) {
    MPI_Request request;
    MPI_Irecv(to, count, MPI_DOUBLE, 0, tag, MPI_COMM_SELF, &request);
    MPI_Send(from, count, MPI_DOUBLE, 0, tag, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return 3;
}

__attribute__((noinline)) static int anything(int count, int tag) {
    MPI_Request requests[2];
    MPI_Irecv(to, count, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(from, count, MPI_DOUBLE, 0, tag, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    return 3;
}

static int one_step(void) {
    int count = 1 + (int)draw(1000), tag = (int)draw(100), flag;
    switch (draw(10)) {
    case 0: return MPI_Barrier(MPI_COMM_SELF), 1;
    case 1: return MPI_Bcast(to, count, MPI_DOUBLE, 0, MPI_COMM_SELF), 1;
    case 2: return MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF), 1;
    case 3: return MPI_Reduce(from, to, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_SELF), 1;
    case 4: return MPI_Gather(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, 0, MPI_COMM_SELF), 1;
    case 5: return MPI_Alltoall(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, MPI_COMM_SELF), 1;
    case 6: return MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE), 1;
    case 7: return MPI_Sendrecv(from, count, MPI_DOUBLE, 0, tag, to, count, MPI_DOUBLE, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE), 1;
    case 8: return message(count, tag);
    default: return anything(count, tag);
    }
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 100000, done = 0;
    int rank;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 88172645463325252ull;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    state += (uint64_t)rank * 977;
    double start = MPI_Wtime();
    while (done < n) done += one_step();
    double seconds = MPI_Wtime() - start;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (rank == 0) printf("%.1f ns per call, %ld calls, peak %ld KiB\n", 1e9 * seconds / (double)done, done, usage.ru_maxrss);
    MPI_Finalize();
    return 0;
}
