/* Asks which functions of MPI-4 there are, by weak references and by dlsym, and calls
 * these or the older ones. Run on 2 ranks.
 *
 * A program of its own, and a library whose asks() p_asks_late.c calls.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#define ROUNDS 10
#define COUNT 100

#pragma weak MPI_Recv_c
#pragma weak MPI_Type_get_extent_c
#pragma weak MPI_Isendrecv
int MPI_Recv_c(void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
int MPI_Type_get_extent_c(MPI_Datatype, MPI_Count *, MPI_Count *);
int MPI_Isendrecv(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm,
                  MPI_Request *);

int asks(void);

typedef int (*send_large)(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);

static void receive(void *values, int from) {
    if (MPI_Recv_c) {
        MPI_Recv_c(values, COUNT, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(values, COUNT, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static send_large look_up(void) {
    send_large send = NULL;
    *(void **)&send = dlsym(RTLD_DEFAULT, "MPI_Send_c");
    return send;
}

/* A program that is linked with its MPI may ask before MPI has begun. */
static send_large large;

int asks(void) {
    MPI_Init(NULL, NULL);
    if (!large) large = look_up();
    int rank, values[COUNT] = {0}, got[COUNT] = {0}, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Count lower = -1, extent = -1;
    MPI_Aint old_lower, old_extent;
    if (MPI_Type_get_extent_c) {
        MPI_Type_get_extent_c(MPI_INT, &lower, &extent);
    } else {
        MPI_Type_get_extent(MPI_INT, &old_lower, &old_extent);
        extent = old_extent;
    }
    for (int round = 0; round < ROUNDS; round++) {
        values[round] = round + rank;
        if (rank == 1) receive(got, 0);
        if (large) {
            large(values, COUNT, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
        } else {
            MPI_Send(values, COUNT, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
        }
        if (rank == 0) receive(got, 1);
        sum += got[round];
    }
    if (MPI_Isendrecv) {
        MPI_Request request;
        MPI_Isendrecv(values, 1, MPI_INT, 1 - rank, 2, got, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rank == 0) {
        printf("MPI_Send_c %d\nMPI_Recv_c %d\n", large != NULL, MPI_Recv_c != NULL);
        printf("MPI_Type_get_extent_c %d\n", MPI_Type_get_extent_c != NULL);
        printf("MPI_Isendrecv %d\n", MPI_Isendrecv != NULL);
        printf("sum %d, extent %d\n", sum, (int)extent);
    }
    MPI_Finalize();
    return 0;
}

int main(void) {
    large = look_up();
    return asks();
}
