/* Logs the MPI calls of any program, as log_c.c logs its own: a library to be
 * preloaded before the recorder, so that both see the same calls of one run.
 *
 * mpicc -shared -fPIC -o librawlog.so rawlog.c rawlog_names.c -ldl
 *
 * MPI_Finalize writes rawlog-RANK.csv into the folder that COUNTS_DIR names, with
 * the columns of log_c.c. The first two lines list the calls of which only the
 * name is logged, and those that are logged in full. Of Fortran it sees the calls
 * of mpif.h and "use mpi" that are listed at the end, and under MPICH all, as
 * these call the functions of C there. It is for programs with one thread that
 * calls MPI.
 */
#define _GNU_SOURCE
#include "quiet.h"

#include "rawlog.h"

#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { NO = INT_MIN };

int rawlog_depth;
static FILE *rows;
static char *text;
static size_t length;
static long n_calls;

void *rawlog_next(const char *name) {
    void *next = dlsym(RTLD_NEXT, name);
    if (!next) {
        fprintf(stderr, "rawlog: no %s behind this library\n", name);
        abort();
    }
    return next;
}

static void cell(int value) {
    if (value == NO) fputc(',', rows);
    else fprintf(rows, ",%d", value);
}

static void row(const char *call, int peer, int tag, int count, MPI_Datatype type, int root) {
    int size = 0, bytes = NO;
    if (!rows) rows = open_memstream(&text, &length);
    if (!rows) abort();
    if (count != NO && PMPI_Type_size(type, &size) == MPI_SUCCESS) bytes = count * size;
    fprintf(rows, "%ld,%s", n_calls++, call);
    if (peer == MPI_ANY_SOURCE) fputs(",any", rows);
    else if (peer == MPI_PROC_NULL) fputs(",null", rows);
    else cell(peer);
    if (tag == MPI_ANY_TAG) fputs(",any", rows);
    else cell(tag);
    cell(count);
    cell(bytes);
    if (root == MPI_ROOT || root == MPI_PROC_NULL) fputs(root == MPI_ROOT ? ",root" : ",null", rows);
    else cell(root);
    fputc('\n', rows);
}

void rawlog_row(const char *call) { row(call, NO, NO, NO, MPI_BYTE, NO); }

void rawlog_write(void) {
    int rank = 0;
    char file[4096];
    const char *folder = getenv("COUNTS_DIR");
    rawlog_row("MPI_Finalize");
    fclose(rows);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(file, sizeof file, "%s/rawlog-%d.csv", folder ? folder : ".", rank);
    FILE *out = fopen(file, "w");
    if (!out) {
        perror(file);
        abort();
    }
    rawlog_names(out);
    fputs("index,call,peer,tag,count,bytes,root\n", out);
    fwrite(text, 1, length, out);
    if (fclose(out) != 0) perror(file);
    free(text);
}

/* A function of C: its name, parameters, arguments, and what to log of it. */
#define WRAP(name, parameters, arguments, ...)                                       \
    int MPI_##name parameters;                                                       \
    int MPI_##name parameters {                                                      \
        static int(*next) parameters;                                                \
        if (!next) *(void **)&next = rawlog_next("MPI_" #name);                      \
        rawlog_depth++;                                                              \
        int code = next arguments;                                                   \
        if (--rawlog_depth == 0) row("MPI_" #name, __VA_ARGS__);                     \
        return code;                                                                 \
    }

#define SEND(name)                                                                                          \
    WRAP(name, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c),  \
         to, tag, n, t, NO)
#define START_SEND(name)                                                                                     \
    WRAP(name, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),          \
         (b, n, t, to, tag, c, r), to, tag, n, t, NO)
SEND(Send)
SEND(Bsend)
SEND(Ssend)
SEND(Rsend)
START_SEND(Isend)
START_SEND(Ibsend)
START_SEND(Issend)
START_SEND(Irsend)
START_SEND(Send_init)
START_SEND(Bsend_init)
START_SEND(Ssend_init)
START_SEND(Rsend_init)
WRAP(Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r),
     (b, n, t, from, tag, c, r), from, tag, n, t, NO)
WRAP(Recv_init, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r),
     (b, n, t, from, tag, c, r), from, tag, n, t, NO)
WRAP(Sendrecv,
     (const void *b, int n, MPI_Datatype t, int to, int tag, void *b2, int n2, MPI_Datatype t2, int from, int tag2,
      MPI_Comm c, MPI_Status *s),
     (b, n, t, to, tag, b2, n2, t2, from, tag2, c, s), to, tag, n, t, NO)
WRAP(Sendrecv_replace,
     (void *b, int n, MPI_Datatype t, int to, int tag, int from, int tag2, MPI_Comm c, MPI_Status *s),
     (b, n, t, to, tag, from, tag2, c, s), to, tag, n, t, NO)

/* A receive or probe of anything has what it got. */
#define GOT(wanted, any, got) ((wanted) == (any) ? (got) : (wanted))
WRAP(Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s),
     (b, n, t, from, tag, c, s == MPI_STATUS_IGNORE ? (s = &(MPI_Status){0}) : s),
     GOT(from, MPI_ANY_SOURCE, s->MPI_SOURCE), GOT(tag, MPI_ANY_TAG, s->MPI_TAG), n, t, NO)
WRAP(Probe, (int from, int tag, MPI_Comm c, MPI_Status *s),
     (from, tag, c, s == MPI_STATUS_IGNORE ? (s = &(MPI_Status){0}) : s),
     GOT(from, MPI_ANY_SOURCE, s->MPI_SOURCE), GOT(tag, MPI_ANY_TAG, s->MPI_TAG), NO, MPI_BYTE, NO)

WRAP(Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c), NO, NO, n, t, root)
WRAP(Reduce, (const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c),
     (b, o, n, t, op, root, c), NO, NO, n, t, root)
#define REDUCE(name)                                                                                       \
    WRAP(name, (const void *b, void *o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, o, n, t, op, c), \
         NO, NO, n, t, NO)
REDUCE(Allreduce)
REDUCE(Scan)
REDUCE(Exscan)
/* MPI reads no counts of what is in place, and none that only the root has: of
 * such calls, what they receive is logged. */
static int is_root(int root, MPI_Comm comm) {
    int rank;
    return root == MPI_ROOT || (PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root);
}
#define TO_ROOT(name, sends)                                                                                 \
    WRAP(name, (const void *b, int n, MPI_Datatype t, void *o, int m, MPI_Datatype u, int root, MPI_Comm c),  \
         (b, n, t, o, m, u, root, c), NO, NO, (sends) ? n : m, (sends) ? t : u, root)
TO_ROOT(Gather, b != MPI_IN_PLACE)
TO_ROOT(Scatter, is_root(root, c))
#define TO_ALL(name)                                                                               \
    WRAP(name, (const void *b, int n, MPI_Datatype t, void *o, int m, MPI_Datatype u, MPI_Comm c),  \
         (b, n, t, o, m, u, c), NO, NO, b == MPI_IN_PLACE ? m : n, b == MPI_IN_PLACE ? u : t, NO)
TO_ALL(Allgather)
TO_ALL(Alltoall)
WRAP(Allgatherv,
     (const void *b, int n, MPI_Datatype t, void *o, const int *m, const int *d, MPI_Datatype u, MPI_Comm c),
     (b, n, t, o, m, d, u, c), NO, NO, b == MPI_IN_PLACE ? NO : n, t, NO)
WRAP(Gatherv,
     (const void *b, int n, MPI_Datatype t, void *o, const int *m, const int *d, MPI_Datatype u, int root, MPI_Comm c),
     (b, n, t, o, m, d, u, root, c), NO, NO, b == MPI_IN_PLACE ? NO : n, t, root)

#ifdef OPEN_MPI
/* Calls of Fortran, which reach no MPI_ function of C under Open MPI. */
#define FORTRAN(name, fortran, parameters, arguments, ...)                           \
    void fortran parameters;                                                         \
    void fortran parameters {                                                        \
        static void(*next) parameters;                                               \
        if (!next) *(void **)&next = rawlog_next(#fortran);                          \
        rawlog_depth++;                                                              \
        next arguments;                                                              \
        if (--rawlog_depth == 0) row("MPI_" #name, __VA_ARGS__);                     \
    }
#define F_TYPE(t) MPI_Type_f2c(*(t))
FORTRAN(Send, mpi_send_, (void *b, int *n, int *t, int *to, int *tag, int *c, int *e), (b, n, t, to, tag, c, e), *to,
        *tag, *n, F_TYPE(t), NO)
FORTRAN(Isend, mpi_isend_, (void *b, int *n, int *t, int *to, int *tag, int *c, int *r, int *e),
        (b, n, t, to, tag, c, r, e), *to, *tag, *n, F_TYPE(t), NO)
FORTRAN(Irecv, mpi_irecv_, (void *b, int *n, int *t, int *from, int *tag, int *c, int *r, int *e),
        (b, n, t, from, tag, c, r, e), *from, *tag, *n, F_TYPE(t), NO)
/* The status is an array of MPI_Fint: source and tag come first. */
FORTRAN(Recv, mpi_recv_, (void *b, int *n, int *t, int *from, int *tag, int *c, int *s, int *e),
        (b, n, t, from, tag, c, s, e), s == MPI_F_STATUS_IGNORE ? *from : GOT(*from, MPI_ANY_SOURCE, s[0]),
        s == MPI_F_STATUS_IGNORE ? *tag : GOT(*tag, MPI_ANY_TAG, s[1]), *n, F_TYPE(t), NO)
FORTRAN(Bcast, mpi_bcast_, (void *b, int *n, int *t, int *root, int *c, int *e), (b, n, t, root, c, e), NO, NO, *n,
        F_TYPE(t), *root)
FORTRAN(Reduce, mpi_reduce_, (void *b, void *o, int *n, int *t, int *op, int *root, int *c, int *e),
        (b, o, n, t, op, root, c, e), NO, NO, *n, F_TYPE(t), *root)
FORTRAN(Allreduce, mpi_allreduce_, (void *b, void *o, int *n, int *t, int *op, int *c, int *e),
        (b, o, n, t, op, c, e), NO, NO, *n, F_TYPE(t), NO)
FORTRAN(Alltoall, mpi_alltoall_, (void *b, int *n, int *t, void *o, int *m, int *u, int *c, int *e),
        (b, n, t, o, m, u, c, e), NO, NO, *n, F_TYPE(t), NO)
FORTRAN(Allgather, mpi_allgather_, (void *b, int *n, int *t, void *o, int *m, int *u, int *c, int *e),
        (b, n, t, o, m, u, c, e), NO, NO, *n, F_TYPE(t), NO)
#define NAMED(name, fortran) \
    FORTRAN(name, fortran, (void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h), \
            (a, b, c, d, e, f, g, h), NO, NO, NO, MPI_BYTE, NO)
NAMED(Init, mpi_init_)
NAMED(Comm_rank, mpi_comm_rank_)
NAMED(Comm_size, mpi_comm_size_)
NAMED(Comm_split, mpi_comm_split_)
NAMED(Comm_dup, mpi_comm_dup_)
NAMED(Comm_free, mpi_comm_free_)
NAMED(Barrier, mpi_barrier_)
NAMED(Wait, mpi_wait_)
NAMED(Waitall, mpi_waitall_)
NAMED(Cart_create, mpi_cart_create_)
NAMED(Cart_coords, mpi_cart_coords_)
NAMED(Cart_rank, mpi_cart_rank_)
NAMED(Cart_sub, mpi_cart_sub_)
NAMED(Waitsome, mpi_waitsome_)
NAMED(Testsome, mpi_testsome_)
NAMED(Test, mpi_test_)
NAMED(Initialized, mpi_initialized_)
NAMED(Init_thread, mpi_init_thread_)

void mpi_finalize_(int *error);
void mpi_finalize_(int *error) {
    if (rawlog_depth == 0) rawlog_write();
    rawlog_depth++;
    ((void (*)(int *))rawlog_next("mpi_finalize_"))(error);
}
#endif
