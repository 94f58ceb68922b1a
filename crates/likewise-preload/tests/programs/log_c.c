/* Writes down every MPI call it makes, in order, to compare with what a
 * recorder says of it.
 *
 * Usage: log_c [ROUNDS]. Any number of ranks.
 *
 * Each rank writes log-RANK.csv into the folder that COUNTS_DIR names, with
 * the columns index,call,peer,tag,count,bytes,root. The index counts all MPI
 * calls of the rank, MPI_Init is 0. A peer is a rank of the communicator of the
 * call, or "null" for MPI_PROC_NULL. A blocking receive or probe of any source
 * or any tag has the source and the tag that it got; MPI_Irecv of any has
 * "any", and the call that completes it has what it got. What a call does not
 * have is empty. MPI_Sendrecv has what it sends, MPI_Scatter what each rank
 * gets.
 */
#include "quiet.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO = INT_MIN };

static FILE *out;
static long n_calls;
static int rank, size;

static void cell(int value) {
    if (value == NO) fputc(',', out);
    else fprintf(out, ",%d", value);
}

static void row(const char *call, int peer, int tag, int count, int bytes, int root) {
    long index = n_calls++;
    fprintf(out, "%ld,MPI_%s", index, call);
    if (peer == MPI_ANY_SOURCE) fputs(",any", out);
    else if (peer == MPI_PROC_NULL) fputs(",null", out);
    else cell(peer);
    if (tag == MPI_ANY_TAG) fputs(",any", out);
    else cell(tag);
    cell(count);
    cell(bytes);
    cell(root);
    fputc('\n', out);
}

static void plain(const char *call) { row(call, NO, NO, NO, NO, NO); }

static int bytes_of(int count, MPI_Datatype type) {
    int bytes = type == MPI_DOUBLE ? 8 : type == MPI_BYTE ? 1 : 4;
    return count * bytes;
}

static void log_send(void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    MPI_Send(data, count, type, to, tag, comm);
    row("Send", to, tag, count, bytes_of(count, type), NO);
}

static void log_isend(void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
    MPI_Isend(data, count, type, to, tag, comm, request);
    row("Isend", to, tag, count, bytes_of(count, type), NO);
}

static void log_irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request) {
    MPI_Irecv(data, count, type, from, tag, comm, request);
    row("Irecv", from, tag, count, bytes_of(count, type), NO);
}

static void log_recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm) {
    MPI_Status status;
    MPI_Recv(data, count, type, from, tag, comm, &status);
    if (from != MPI_ANY_SOURCE && tag != MPI_ANY_TAG) status.MPI_SOURCE = from, status.MPI_TAG = tag;
    row("Recv", status.MPI_SOURCE, status.MPI_TAG, count, bytes_of(count, type), NO);
}

static void log_barrier(MPI_Comm comm) {
    MPI_Barrier(comm);
    plain("Barrier");
}

static void log_allreduce(int count, MPI_Comm comm) {
    double in[64] = {0}, result[64];
    MPI_Allreduce(in, result, count, MPI_DOUBLE, MPI_SUM, comm);
    row("Allreduce", NO, NO, count, count * 8, NO);
}

/* A ring in which each rank sends to the next one, in every way. */
static void ring(MPI_Comm comm, int rounds) {
    int me, n, flag = 0;
    double from[64] = {0}, to[64];
    MPI_Request requests[2];
    MPI_Comm_rank(comm, &me);
    plain("Comm_rank");
    MPI_Comm_size(comm, &n);
    plain("Comm_size");
    int next = (me + 1) % n, before = (me + n - 1) % n;
    for (int i = 0; i < rounds; i++) {
        int count = 1 + i % 5;
        log_irecv(to, count, MPI_DOUBLE, before, i, comm, &requests[0]);
        log_isend(from, count, MPI_DOUBLE, next, i, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        plain("Waitall");
        log_irecv(to, 64, MPI_FLOAT, before, 7, comm, &requests[0]);
        log_send(from, count, MPI_FLOAT, next, 7, comm);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        plain("Wait");
        log_irecv(to, 64, MPI_BYTE, before, 8, comm, &requests[0]);
        log_send(from, 3 * i % 64, MPI_BYTE, next, 8, comm);
        for (flag = 0; !flag; plain("Test")) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        log_send(from, 1, MPI_INT, MPI_PROC_NULL, 1, comm);
        MPI_Sendrecv(from, 2, MPI_INT, next, 9, to, 2, MPI_INT, before, 9, comm, MPI_STATUS_IGNORE);
        row("Sendrecv", next, 9, 2, 8, NO);
        if (i % 4 == 3) log_allreduce(i % 3 + 1, comm);
    }
}

/* Grids that come and go, as hpcc's: MPI gives the handles of freed
 * communicators to new ones, in another order. */
static void grids(int rounds) {
    for (int i = 0; i < rounds; i++) {
        MPI_Comm all, line, column;
        int me, n, at, across, value = 0, got;
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &all);
        plain("Comm_split");
        MPI_Comm_rank(all, &at);
        plain("Comm_rank");
        MPI_Comm_split(all, at / 2, at, &line);
        plain("Comm_split");
        MPI_Comm_split(all, at % 2, at, &column);
        plain("Comm_split");
        MPI_Comm_rank(column, &me);
        plain("Comm_rank");
        MPI_Comm_size(column, &n);
        plain("Comm_size");
        MPI_Sendrecv(&value, 1, MPI_INT, (me + 1) % n, 0, &got, 1, MPI_INT, (me + n - 1) % n, 0, column, MPI_STATUS_IGNORE);
        row("Sendrecv", (me + 1) % n, 0, 1, 4, NO);
        across = size - 1 - at;
        MPI_Sendrecv(&value, 1, MPI_INT, across, 0, &got, 1, MPI_INT, across, 0, all, MPI_STATUS_IGNORE);
        row("Sendrecv", across, 0, 1, 4, NO);
        MPI_Comm *const order[3] = {i % 2 ? &line : &column, i % 2 ? &column : &line, &all};
        for (int k = 0; k < 3; k++) {
            MPI_Comm_free(order[k]);
            plain("Comm_free");
        }
    }
}

/* Messages that any rank may have sent. */
static void anybody(int rounds) {
    int value = rank, got;
    for (int i = 0; i < rounds; i++) {
        if (rank > 0) {
            log_send(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
            log_send(&value, 1, MPI_INT, 0, 1000, MPI_COMM_WORLD);
        } else {
            for (int k = 1; k < size; k++) log_recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD);
            for (int k = 1; k < size; k++) {
                MPI_Request request;
                MPI_Status status;
                log_irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1000, MPI_COMM_WORLD, &request);
                MPI_Wait(&request, &status);
                row("Wait", status.MPI_SOURCE, status.MPI_TAG, NO, NO, NO);
            }
        }
        log_barrier(MPI_COMM_WORLD);
    }
}

static void all_together(int rounds) {
    enum { MOST = 64 };
    int data[3 * MOST] = {0}, more[3 * MOST];
    for (int i = 0; i < rounds; i++) {
        int root = i % size, count = 1 + i % 3;
        MPI_Bcast(data, count, MPI_INT, root, MPI_COMM_WORLD);
        row("Bcast", NO, NO, count, 4 * count, root);
        MPI_Reduce(data, more, count, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
        row("Reduce", NO, NO, count, 4 * count, root);
        if (size > MOST) continue;
        MPI_Gather(data, count, MPI_INT, more, count, MPI_INT, 0, MPI_COMM_WORLD);
        row("Gather", NO, NO, count, 4 * count, 0);
        MPI_Scatter(data, 1, MPI_INT, more, 1, MPI_INT, root, MPI_COMM_WORLD);
        row("Scatter", NO, NO, 1, 4, root);
        MPI_Alltoall(data, count, MPI_INT, more, count, MPI_INT, MPI_COMM_WORLD);
        row("Alltoall", NO, NO, count, 4 * count, NO);
        MPI_Allgather(data, count, MPI_INT, more, count, MPI_INT, MPI_COMM_WORLD);
        row("Allgather", NO, NO, count, 4 * count, NO);
        MPI_Scan(data, more, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        row("Scan", NO, NO, count, 4 * count, NO);
    }
}

/* A derived type, and requests that are started again and again. */
static void persistent(int rounds) {
    MPI_Datatype column;
    MPI_Request requests[2];
    double from[64] = {0}, to[64];
    MPI_Type_vector(4, 2, 8, MPI_DOUBLE, &column);
    plain("Type_vector");
    MPI_Type_commit(&column);
    plain("Type_commit");
    MPI_Recv_init(to, 1, column, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &requests[0]);
    row("Recv_init", (rank + size - 1) % size, 3, 1, 64, NO);
    MPI_Send_init(from, 1, column, (rank + 1) % size, 3, MPI_COMM_WORLD, &requests[1]);
    row("Send_init", (rank + 1) % size, 3, 1, 64, NO);
    for (int i = 0; i < rounds; i++) {
        MPI_Startall(2, requests);
        plain("Startall");
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        plain("Waitall");
    }
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&requests[i]);
        plain("Request_free");
    }
    MPI_Type_free(&column);
    plain("Type_free");
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 40;
    const char *folder = getenv("COUNTS_DIR");
    char file[4096];
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(file, sizeof file, "%s/log-%d.csv", folder ? folder : ".", rank);
    out = fopen(file, "w");
    if (!out) {
        perror(file);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fputs("index,call,peer,tag,count,bytes,root\n", out);
    plain("Init");
    plain("Comm_rank");
    plain("Comm_size");
    ring(MPI_COMM_WORLD, rounds);
    anybody(rounds);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    plain("Comm_split");
    ring(half, rounds);
    MPI_Comm_free(&half);
    plain("Comm_free");
    grids(10);
    all_together(rounds);
    persistent(rounds);
    log_barrier(MPI_COMM_WORLD);
    plain("Finalize");
    if (fclose(out) != 0) {
        perror(file);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
