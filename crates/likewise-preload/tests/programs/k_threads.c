/* Threads that call MPI at once, each on its own communicator.
 *
 * Usage: k_threads [ROUNDS] [THREADS]. Any number of ranks. Writes
 * counts-RANK.txt into the folder that COUNTS_DIR names, see counting.h: the
 * threads make the same calls, so their number is known.
 */
#include "counting.h"

#include <pthread.h>

enum { MOST_THREADS = 64 };

static int rank, size, rounds, failures;
static MPI_Comm comms[MOST_THREADS];

/* Six calls in each round. */
static void *work(void *argument) {
    MPI_Comm comm = *(MPI_Comm *)argument;
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < rounds; i++) {
        MPI_Request request;
        int got = -1, sum = 0, flag = 0;
        MPI_Irecv(&got, 1, MPI_INT, left, i, comm, &request);
        MPI_Send(&rank, 1, MPI_INT, right, i, comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
        MPI_Barrier(comm);
        if (got != left || sum != size * (size - 1) / 2) __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void count_calls(const char *name, long calls) {
    for (long i = 0; i < calls; i++) count_call(name);
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atoi(argv[1]) : 200;
    int threads = argc > 2 ? atoi(argv[2]) : 8, provided;
    EXPECT(threads <= MOST_THREADS);
    C(Init_thread, &argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    C(Comm_rank, MPI_COMM_WORLD, &rank);
    C(Comm_size, MPI_COMM_WORLD, &size);
    if (provided < MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "k_threads: this MPI has no MPI_THREAD_MULTIPLE\n");
        C(Abort, MPI_COMM_WORLD, 3);
    }
    pthread_t ids[MOST_THREADS];
    for (int i = 0; i < threads; i++) C(Comm_dup, MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < threads; i++) EXPECT(pthread_create(&ids[i], NULL, work, &comms[i]) == 0);
    for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
    static const char *const names[] = {"MPI_Irecv", "MPI_Send", "MPI_Wait", "MPI_Allreduce", "MPI_Iprobe", "MPI_Barrier"};
    for (int i = 0; i < 6; i++) count_calls(names[i], (long)rounds * threads);
    for (int i = 0; i < threads; i++) C(Comm_free, &comms[i]);
    EXPECT(failures == 0);
    count_call("MPI_Finalize");
    write_counts(rank);
    MPI_Finalize();
    if (rank == 0) printf("k_threads: done\n");
    return 0;
}
