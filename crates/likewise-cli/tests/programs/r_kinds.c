/* Programs that are recorded and replayed: r_kinds KIND [STEPS [COMPUTE]].
 * Every step computes for about COMPUTE microseconds (default 2000) of
 * processor time, more on higher ranks, and communicates as KIND says. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, left, right, steps, micros;
static double out[4096], in[4096];

static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static void compute(void) {
    double end = processor_time() + micros * (1 + 0.2 * rank / size);
    while (processor_time() < end)
        for (int i = 0; i < 100; i++) out[i] = out[i] * 0.5 + i;
}

static void ring(void) {
    MPI_Request requests[4];
    for (int step = 0; step < steps; step++) {
        MPI_Irecv(in, 1000, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(in + 1000, 3000, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(out, 1000, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(out, 3000, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[3]);
        compute();
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
}

/* One rank at a time: who has the token. */
static void turns(void) {
    int token = 0;
    for (int step = 0; step < steps; step++) {
        if (rank > 0 || step > 0) MPI_Recv(&token, 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compute();
        if (rank < size - 1 || step < steps - 1) MPI_Send(&token, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
    }
}

static void persistent(void) {
    MPI_Request requests[3];
    MPI_Recv_init(in, 500, MPI_DOUBLE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in + 500, 500, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Send_init(out, 500, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &requests[2]);
    for (int step = 0; step < steps; step++) {
        int done = 0, n, indices[3];
        MPI_Startall(2, requests);
        compute();
        MPI_Start(&requests[2]);
        MPI_Send(out, 500, MPI_DOUBLE, left, 4, MPI_COMM_WORLD);
        while (done < 3) {
            MPI_Waitsome(3, requests, &n, indices, MPI_STATUSES_IGNORE);
            done += n;
        }
    }
    for (int i = 0; i < 3; i++) MPI_Request_free(&requests[i]);
}

static void groups(void) {
    MPI_Comm half, node, grid, row;
    int dims[2] = {0, 0}, periods[2] = {1, 0}, keep[2] = {0, 1}, sum;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_split_type(half, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Cart_sub(grid, keep, &row);
    for (int step = 0; step < steps; step++) {
        int from, to;
        MPI_Cart_shift(grid, step % 2, 1, &from, &to);
        compute();
        MPI_Sendrecv(out, 100, MPI_DOUBLE, to, 5, in, 100, MPI_DOUBLE, from, 5, grid, MPI_STATUS_IGNORE);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
        MPI_Bcast(out, 1000, MPI_DOUBLE, 0, row);
        MPI_Barrier(node);
    }
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&node);
    MPI_Comm_free(&half);
}

static void neighbours(void) {
    MPI_Comm graph;
    int sources[2] = {left, right}, targets[1] = {right}, both[2] = {left, right};
    int counts[2] = {10, 20}, places[2] = {0, 10};
    MPI_Comm ring;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, both, MPI_UNWEIGHTED, 2, both, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &ring);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    for (int step = 0; step < steps; step++) {
        MPI_Request request;
        MPI_Ineighbor_alltoall(out, 100, MPI_DOUBLE, in, 100, MPI_DOUBLE, ring, &request);
        compute();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Neighbor_allgather(out, 50, MPI_DOUBLE, in, 50, MPI_DOUBLE, graph);
        int swapped[2] = {counts[0], counts[1]};
        if (size > 2) swapped[0] = counts[1], swapped[1] = counts[0];
        MPI_Neighbor_alltoallv(out, counts, places, MPI_DOUBLE, in, swapped, places, MPI_DOUBLE, ring);
    }
    MPI_Comm_free(&graph);
    MPI_Comm_free(&ring);
}

static void nonblocking(void) {
    int counts[64], places[64], uneven[64], from[64];
    for (int i = 0; i < size; i++) {
        counts[i] = 10 + rank, from[i] = 10 + i, places[i] = i * 20, uneven[i] = i == rank ? 0 : 10;
    }
    for (int step = 0; step < steps; step++) {
        MPI_Request requests[3];
        MPI_Iallreduce(MPI_IN_PLACE, in, 400, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
        MPI_Ialltoallv(out, counts, places, MPI_DOUBLE, in + 400, from, places, MPI_DOUBLE, MPI_COMM_WORLD,
                       &requests[1]);
        MPI_Igather(out, 10, MPI_DOUBLE, in + 2000, 10, MPI_DOUBLE, step % size, MPI_COMM_WORLD, &requests[2]);
        compute();
        int done = 0;
        while (!done) MPI_Testall(3, requests, &done, MPI_STATUSES_IGNORE);
        MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, uneven, places, MPI_DOUBLE,
                      MPI_COMM_WORLD);
        MPI_Reduce(rank == 0 ? MPI_IN_PLACE : (void *)out, in, 100, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    }
}

/* Three bursts of different lengths between three calls, all on one line. */
static void places(void) {
    int sum, one = 1;
    for (int step = 0; step < steps; step++) {
        MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD), compute(), MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD), compute(), compute(), MPI_Barrier(MPI_COMM_WORLD), compute(), compute(), compute(), compute();
    }
}

/* One call twice on one line, with a burst before each. */
static void twice(void) {
    for (int step = 0; step < steps; step++) {
        compute(), MPI_Barrier(MPI_COMM_WORLD), compute(), MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Rank 0 hands out work to whoever asks. */
static void master(void) {
    int task = steps * (size - 1), stop = size - 1;
    MPI_Status status;
    if (rank > 0) {
        for (;;) {
            MPI_Send(out, 10 * rank, MPI_DOUBLE, 0, 7 + rank, MPI_COMM_WORLD);
            MPI_Recv(in, 100, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            if (status.MPI_TAG == 99) return;
            compute();
        }
    }
    while (stop > 0) {
        int flag = 0, n;
        MPI_Message message;
        while (!flag) MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &n);
        MPI_Mrecv(in, n, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
        MPI_Send(out, 5, MPI_DOUBLE, status.MPI_SOURCE, task > 0 ? 1 : 99, MPI_COMM_WORLD);
        if (task-- <= 0) stop--;
    }
}

static void windows(void) {
    MPI_Win win;
    double *memory = calloc(4096, sizeof(double)), one = 1;
    int zero = 0, previous, unit = sizeof(double);
    MPI_Win_create(memory, 4096 * sizeof(double), unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int step = 0; step < steps; step++) {
        MPI_Win_fence(0, win);
        MPI_Put(out, 500, MPI_DOUBLE, right, 100, 500, MPI_DOUBLE, win);
        MPI_Get(in, 200, MPI_DOUBLE, left, 0, 200, MPI_DOUBLE, win);
        MPI_Win_fence(0, win);
        compute();
        MPI_Win_lock(step % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Accumulate(&one, 1, MPI_DOUBLE, 0, 4000, 1, MPI_DOUBLE, MPI_SUM, win);
        MPI_Win_unlock(0, win);
        MPI_Win_lock_all(0, win);
        MPI_Fetch_and_op(&zero, &previous, MPI_INT, right, 4090, MPI_SUM, win);
        MPI_Win_unlock_all(win);
    }
    MPI_Win_free(&win);
    free(memory);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size, right = (rank + 1) % size;
    const char *kind = argc > 1 ? argv[1] : "ring";
    steps = argc > 2 ? atoi(argv[2]) : 100;
    micros = argc > 3 ? atoi(argv[3]) : 2000;
    struct {
        const char *name;
        void (*run)(void);
    } kinds[] = {{"ring", ring},           {"persistent", persistent},   {"groups", groups},
                 {"neighbours", neighbours}, {"nonblocking", nonblocking}, {"master", master},
                 {"windows", windows},     {"places", places},         {"turns", turns},
                 {"twice", twice}};
    double begin = MPI_Wtime();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, kind) == 0) kinds[i].run();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%s %.4f\n", kind, MPI_Wtime() - begin);
    MPI_Finalize();
    return 0;
}
