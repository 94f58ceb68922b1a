/* The calls that rawlog.c logs by name alone. All arguments of MPI are integers
 * and pointers, so a wrapper that passes twelve words on serves each of them;
 * this file does not include mpi.h, which says otherwise.
 */
#include "rawlog.h"

#define BY_NAME(X)                                                                                               \
    X(Init) X(Init_thread) X(Initialized) X(Finalized) X(Comm_rank) X(Comm_size) X(Comm_split) X(Comm_dup)       \
    X(Comm_free) X(Comm_create) X(Comm_group) X(Comm_split_type) X(Comm_get_attr) X(Comm_set_attr)               \
    X(Comm_create_keyval) X(Comm_free_keyval) X(Comm_compare) X(Comm_remote_size) X(Comm_get_name)               \
    X(Comm_set_name) X(Comm_set_errhandler) X(Comm_get_parent) X(Intercomm_create) X(Intercomm_merge)            \
    X(Group_incl) X(Group_excl) X(Group_range_incl) X(Group_free) X(Group_rank) X(Group_size)                    \
    X(Group_translate_ranks) X(Cart_create) X(Cart_get) X(Cart_shift) X(Cart_sub) X(Cart_rank) X(Cart_coords)    \
    X(Dims_create) X(Type_contiguous) X(Type_vector) X(Type_indexed) X(Type_create_struct) X(Type_create_hvector) \
    X(Type_create_hindexed) X(Type_create_indexed_block) X(Type_create_subarray) X(Type_create_resized)          \
    X(Type_commit) X(Type_free) X(Type_size) X(Type_get_extent) X(Type_hindexed) X(Type_struct) X(Type_hvector)  \
    X(Op_create) X(Op_free) X(Get_count) X(Get_elements) X(Get_address) X(Address) X(Get_processor_name)         \
    X(Get_library_version) X(Get_version) X(Barrier) X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test)           \
    X(Testall) X(Testany) X(Testsome) X(Iprobe) X(Cancel) X(Request_free) X(Start) X(Startall) X(Attr_get)       \
    X(Attr_put) X(Keyval_create) X(Keyval_free) X(Attr_delete) X(Errhandler_set) X(Error_string) X(Error_class)  \
    X(Pack) X(Unpack) X(Pack_size) X(Scatterv) X(Alltoallv) X(Alltoallw) X(Reduce_scatter)                       \
    X(Reduce_scatter_block) X(Ibarrier) X(Ibcast) X(Iallreduce) X(Ireduce) X(Iallgather) X(Ialltoall)            \
    X(Win_create) X(Win_free) X(Win_fence) X(Win_lock) X(Win_unlock) X(Put) X(Get) X(Accumulate) X(Alloc_mem)    \
    X(Free_mem) X(Info_create) X(Info_set) X(Info_free) X(Buffer_attach) X(Buffer_detach)

#define WRAP(name)                                                                                       \
    long MPI_##name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l); \
    long MPI_##name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l) { \
        static long (*next)(long, long, long, long, long, long, long, long, long, long, long, long);     \
        if (!next) *(void **)&next = rawlog_next("MPI_" #name);                                          \
        rawlog_depth++;                                                                                  \
        long code = next(a, b, c, d, e, f, g, h, i, j, k, l);                                            \
        if (--rawlog_depth == 0) rawlog_row("MPI_" #name);                                               \
        return code;                                                                                     \
    }
BY_NAME(WRAP)

int MPI_Finalize(void);
int MPI_Finalize(void) {
    if (rawlog_depth == 0) rawlog_write();
    rawlog_depth++; /* what Finalize calls, and what follows, is not logged */
    return ((int (*)(void))rawlog_next("MPI_Finalize"))();
}

void rawlog_names(FILE *out) {
#define NAME(name) " MPI_" #name
    fputs("#by name" BY_NAME(NAME) "\n", out);
    fputs("#in full MPI_Send MPI_Bsend MPI_Ssend MPI_Rsend MPI_Isend MPI_Ibsend MPI_Issend MPI_Irsend MPI_Send_init"
          " MPI_Bsend_init MPI_Ssend_init MPI_Rsend_init MPI_Irecv MPI_Recv_init MPI_Sendrecv MPI_Sendrecv_replace"
          " MPI_Recv MPI_Probe MPI_Bcast MPI_Reduce MPI_Allreduce MPI_Scan MPI_Exscan MPI_Gather MPI_Scatter"
          " MPI_Allgather MPI_Alltoall MPI_Allgatherv MPI_Gatherv MPI_Finalize\n",
          out);
}
