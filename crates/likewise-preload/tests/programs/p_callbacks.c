/* Calls that the program makes while MPI calls it back: of an operation, of
 * attributes, of errors (one leaves by a long jump) and of a request of its own.
 */
#include "quiet.h"

#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;
static int n_called;

static void called(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_SELF);
    n_called++;
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type) {
    int size;
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
    called();
}

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)key, (void)extra;
    called();
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    called();
    return MPI_SUCCESS;
}

static void failed(MPI_Comm *comm, int *code, ...) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    (void)comm;
    MPI_Error_string(*code, text, &length);
    called();
    longjmp(back, 1);
}

static int query(void *extra, MPI_Status *status) {
    (void)extra;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    called();
    return MPI_SUCCESS;
}

static int release(void *extra) {
    (void)extra;
    called();
    return MPI_SUCCESS;
}

static int cancel(void *extra, int is_complete) {
    (void)extra, (void)is_complete;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int a[4] = {1, 2, 3, 4}, b[4], key;
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < 10; i++) {
        MPI_Request request;
        MPI_Allreduce(a, b, 4, MPI_INT, op, MPI_COMM_WORLD);
        MPI_Iallreduce(a, b, 4, MPI_INT, op, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Reduce_local(a, b, 4, MPI_INT, op);
    }
    MPI_Op_free(&op);

    MPI_Comm comm;
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_attr(comm, key, a);
    MPI_Comm copied;
    MPI_Comm_dup(comm, &copied);
    MPI_Comm_free(&copied);
    MPI_Comm_free(&comm);

    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(failed, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (setjmp(back) == 0) MPI_Send(a, 1, MPI_INT, 12345, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Request own;
    MPI_Status status;
    MPI_Grequest_start(query, release, cancel, NULL, &own);
    MPI_Grequest_complete(own);
    MPI_Wait(&own, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (n_called < 10) return 1;
    return 0;
}
