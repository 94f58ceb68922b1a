/* A program whose phases are known, with a marker after every step.
 *
 * Usage: l_phases KIND [STEPS] [WORK].
 *
 * one        every step the same: a ring, and a sum
 * bare       the same, without markers
 * pairs      every step the same, and with every rank another partner
 * two        the second half of the steps does something else
 * blocks     what a step does changes every twelve steps
 * alternate  what a step does changes every step
 * branch     every second rank does something else, always
 * counts     inner loops run as often as the data say, on every rank another number
 * master     rank 0 hands out pieces to the others
 * once       one rank does something of its own in one step
 * never      no step is like the one before
 * unequal    rank 0 leaves out a marker now and then
 * half       only the first half of the ranks comes to markers
 * abort      all is well for two thirds of the steps, then rank 1 aborts
 * exit       the same, and it exits
 * kill       the same, and it is killed
 * die        the same, and a rank exits between two votes, without a word
 */
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "quiet.h"

static int rank, size, work;
static double sink, sum;

static int is(const char *kind, const char *name) { return strcmp(kind, name) == 0; }

__attribute__((noinline)) static void compute(int times) {
    double value = 1;
    for (int i = 0; i < times * work; i++) value = sqrt(value + i);
    sink += value;
}

/* A value to each neighbour; how much differs from rank to rank. */
__attribute__((noinline)) static void ring(int tag) {
    double out[8] = {1}, in[8];
    int left = (rank + size - 1) % size, right = (rank + 1) % size, n = 1 + rank % 4, from = 1 + left % 4;
    MPI_Request requests[2];
    MPI_Irecv(in, from, MPI_DOUBLE, left, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, n, MPI_DOUBLE, right, tag, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    sum += in[0];
}

__attribute__((noinline)) static void pairs(void) {
    int other = rank ^ 1;
    double out = rank, in = 0;
    if (other < size) MPI_Sendrecv(&out, 1, MPI_DOUBLE, other, 3, &in, 1, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += in;
}

__attribute__((noinline)) static void all(void) {
    double in = rank, out;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sum += out;
}

__attribute__((noinline)) static void row(MPI_Comm comm) {
    double in = rank, out;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_MAX, comm);
    sum += out;
}

__attribute__((noinline)) static void hand_out(void) {
    int piece = 7;
    for (int worker = 1; worker < size; worker++) {
        MPI_Recv(&sink, 1, MPI_DOUBLE, worker, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&piece, 1, MPI_INT, worker, 2, MPI_COMM_WORLD);
    }
}

__attribute__((noinline)) static void ask(void) {
    int piece;
    double done = rank;
    MPI_Send(&done, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(&piece, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    compute(1 + rank % 3);
}

__attribute__((noinline)) static void own(void) { MPI_Barrier(MPI_COMM_SELF); }

static void first(MPI_Comm comm) {
    compute(1);
    ring(1);
    row(comm);
    all();
}

static void second(void) {
    compute(1);
    pairs();
    pairs();
    all();
}

static void step(const char *kind, int step, int steps, MPI_Comm comm) {
    if (is(kind, "two") && step >= steps / 2) second();
    else if (is(kind, "blocks") && step / 12 % 2 == 1) second();
    else if (is(kind, "alternate") && step % 2 == 1) second();
    else if (is(kind, "pairs")) second();
    else if (is(kind, "branch")) {
        compute(1);
        if (rank % 2 == 0) ring(1);
        if (rank % 2 == 1) { ring(1); own(); }
        all();
    } else if (is(kind, "counts")) {
        int turns = 1 + (step * 7 + rank * 5) % 6;
        for (int turn = 0; turn < turns; turn++) own();
        first(comm);
    } else if (is(kind, "master")) {
        if (rank == 0) hand_out();
        else ask();
    } else if (is(kind, "once") && step == steps / 2) {
        first(comm);
        if (rank == size - 1) own();
    } else if (is(kind, "never")) {
        /* As a binary number, the step says what is done. */
        for (int bits = step + 2; bits > 0; bits /= 2) {
            if (bits % 2) all();
            else own();
        }
    } else first(comm);
}

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "one";
    int steps = argc > 2 ? atoi(argv[2]) : 60;
    work = argc > 3 ? atoi(argv[3]) : 1000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comm);
    double start = MPI_Wtime();
    for (int at = 0; at < steps; at++) {
        step(kind, at, steps, comm);
        int ends = at == steps * 2 / 3 && rank == 1;
        if (ends && is(kind, "abort")) MPI_Abort(MPI_COMM_WORLD, 3);
        if (ends && is(kind, "exit")) exit(4);
        if (ends && is(kind, "kill")) raise(SIGKILL);
        if (ends && is(kind, "die")) _exit(5);
        if (is(kind, "unequal") && rank == 0 && at % 10 == 9) continue;
        if (is(kind, "half") && rank >= size / 2) continue;
        if (is(kind, "bare")) continue;
        MPI_Pcontrol(10);
    }
    double seconds = MPI_Wtime() - start, total;
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
    if (rank == 0) {
        printf("l_phases: %s, sum %.0f\n", kind, total);
        fprintf(stderr, "l_phases: %.6f s\n", seconds);
    }
    MPI_Finalize();
    return 0;
}
