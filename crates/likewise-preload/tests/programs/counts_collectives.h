/* Collective calls for counts_c.c: blocking, nonblocking, of neighbours,
 * persistent where MPI has them, and with lists of counts. */

enum { MOST_RANKS = 64 };

static int ones[MOST_RANKS], places[MOST_RANKS], byte_places[MOST_RANKS];
static int from_all[MOST_RANKS], to_all[MOST_RANKS];
static MPI_Datatype ints[MOST_RANKS];

static void fill_lists(void) {
    for (int i = 0; i < MOST_RANKS; i++) {
        ones[i] = 1;
        places[i] = i;
        byte_places[i] = i * (int)sizeof(int);
        to_all[i] = 1000 * rank + i;
        ints[i] = MPI_INT;
    }
}

static void expect_from_all(void) {
    for (int i = 0; i < size; i++) {
        EXPECT(from_all[i] == 1000 * i + rank);
        from_all[i] = -1;
    }
}

static void blocking_collectives(MPI_Comm comm) {
    int mine = rank, sum = 0, root = size - 1;
    C(Bcast, &mine, 1, MPI_INT, root, comm);
    EXPECT(mine == root);
    mine = rank;
    for (int i = 0; i < 3; i++) C(Reduce, &mine, &sum, 1, MPI_INT, MPI_SUM, i % size, comm);
    C(Allreduce, &mine, &sum, 1, MPI_INT, MPI_MAX, comm);
    EXPECT(sum == size - 1);
    C(Allreduce, MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MIN, comm);
    C(Gather, &mine, 1, MPI_INT, from_all, 1, MPI_INT, root, comm);
    C(Gather, rank ? &mine : MPI_IN_PLACE, 1, MPI_INT, from_all, 1, MPI_INT, 0, comm);
    C(Gatherv, &mine, 1, MPI_INT, from_all, ones, places, MPI_INT, 0, comm);
    C(Scatter, to_all, 1, MPI_INT, &sum, 1, MPI_INT, root, comm);
    EXPECT(sum == 1000 * root + rank);
    C(Scatterv, to_all, ones, places, MPI_INT, &sum, 1, MPI_INT, 0, comm);
    EXPECT(sum == rank);
    C(Allgather, &mine, 1, MPI_INT, from_all, 1, MPI_INT, comm);
    C(Allgatherv, &mine, 1, MPI_INT, from_all, ones, places, MPI_INT, comm);
    C(Alltoall, to_all, 1, MPI_INT, from_all, 1, MPI_INT, comm);
    expect_from_all();
    C(Alltoallv, to_all, ones, places, MPI_INT, from_all, ones, places, MPI_INT, comm);
    expect_from_all();
    C(Alltoallw, to_all, ones, byte_places, ints, from_all, ones, byte_places, ints, comm);
    expect_from_all();
    C(Reduce_scatter, to_all, &sum, ones, MPI_INT, MPI_SUM, comm);
    C(Reduce_scatter_block, to_all, &sum, 1, MPI_INT, MPI_SUM, comm);
    C(Scan, &mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    EXPECT(sum == rank * (rank + 1) / 2);
    C(Exscan, &mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    C(Reduce_local, &mine, &sum, 1, MPI_INT, MPI_SUM);
    C(Barrier, comm);
}

static void nonblocking_collectives(MPI_Comm comm) {
    MPI_Request requests[17];
    int mine = rank, out[8], scattered[2], n = 0, flag = 0, shared = rank;
    static int gathered[6][MOST_RANKS];
    C(Ibarrier, comm, &requests[n++]);
    C(Ibcast, &shared, 1, MPI_INT, 0, comm, &requests[n++]);
    C(Ireduce, &mine, &out[0], 1, MPI_INT, MPI_SUM, 0, comm, &requests[n++]);
    C(Iallreduce, &mine, &out[1], 1, MPI_INT, MPI_SUM, comm, &requests[n++]);
    C(Igather, &mine, 1, MPI_INT, gathered[0], 1, MPI_INT, 0, comm, &requests[n++]);
    C(Igatherv, &mine, 1, MPI_INT, gathered[1], ones, places, MPI_INT, 0, comm, &requests[n++]);
    C(Iscatter, to_all, 1, MPI_INT, &scattered[0], 1, MPI_INT, 0, comm, &requests[n++]);
    C(Iscatterv, to_all, ones, places, MPI_INT, &scattered[1], 1, MPI_INT, 0, comm, &requests[n++]);
    C(Iallgather, &mine, 1, MPI_INT, gathered[2], 1, MPI_INT, comm, &requests[n++]);
    C(Iallgatherv, &mine, 1, MPI_INT, gathered[3], ones, places, MPI_INT, comm, &requests[n++]);
    C(Ialltoall, to_all, 1, MPI_INT, from_all, 1, MPI_INT, comm, &requests[n++]);
    C(Ialltoallv, to_all, ones, places, MPI_INT, gathered[4], ones, places, MPI_INT, comm, &requests[n++]);
    C(Ialltoallw, to_all, ones, byte_places, ints, gathered[5], ones, byte_places, ints, comm, &requests[n++]);
    C(Ireduce_scatter, to_all, &out[2], ones, MPI_INT, MPI_SUM, comm, &requests[n++]);
    C(Ireduce_scatter_block, to_all, &out[3], 1, MPI_INT, MPI_SUM, comm, &requests[n++]);
    C(Iscan, &mine, &out[4], 1, MPI_INT, MPI_SUM, comm, &requests[n++]);
    C(Iexscan, &mine, &out[5], 1, MPI_INT, MPI_SUM, comm, &requests[n++]);
    while (!flag) C(Testall, 4, requests, &flag, MPI_STATUSES_IGNORE);
    C(Waitall, n - 4, requests + 4, MPI_STATUSES_IGNORE);
    EXPECT(out[1] == size * (size - 1) / 2 && out[4] == rank * (rank + 1) / 2 && shared == 0);
    expect_from_all();
}

/* On a ring, whose ranks have two neighbours each. */
static void neighbourhood(MPI_Comm ring) {
    MPI_Request requests[5];
    MPI_Aint displacements[2] = {0, sizeof(int)};
    int sent[2] = {rank, rank}, got[2];
    C(Neighbor_allgather, sent, 1, MPI_INT, got, 1, MPI_INT, ring);
    EXPECT(got[0] == left && got[1] == right);
    C(Neighbor_allgatherv, sent, 1, MPI_INT, got, ones, places, MPI_INT, ring);
    C(Neighbor_alltoall, sent, 1, MPI_INT, got, 1, MPI_INT, ring);
    C(Neighbor_alltoallv, sent, ones, places, MPI_INT, got, ones, places, MPI_INT, ring);
    C(Neighbor_alltoallw, sent, ones, displacements, ints, got, ones, displacements, ints, ring);
    int results[5][2];
    C(Ineighbor_allgather, sent, 1, MPI_INT, results[0], 1, MPI_INT, ring, &requests[0]);
    C(Ineighbor_allgatherv, sent, 1, MPI_INT, results[1], ones, places, MPI_INT, ring, &requests[1]);
    C(Ineighbor_alltoall, sent, 1, MPI_INT, results[2], 1, MPI_INT, ring, &requests[2]);
    C(Ineighbor_alltoallv, sent, ones, places, MPI_INT, results[3], ones, places, MPI_INT, ring, &requests[3]);
    C(Ineighbor_alltoallw, sent, ones, displacements, ints, results[4], ones, displacements, ints, ring, &requests[4]);
    C(Waitall, 5, requests, MPI_STATUSES_IGNORE);
    EXPECT(results[0][0] == left && results[0][1] == right);
}

/* What MPI-4 adds: persistent collectives, and a message both ways that does
 * not block. */
static void of_mpi_4(MPI_Comm comm) {
#if MPI_VERSION >= 4
    MPI_Request requests[3];
    int mine = rank, sum = 0, shared = rank, got = -1;
    C(Allreduce_init, &mine, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
    C(Bcast_init, &shared, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[1]);
    C(Barrier_init, comm, MPI_INFO_NULL, &requests[2]);
    for (int i = 0; i < 5; i++) {
        C(Startall, 3, requests);
        C(Waitall, 3, requests, MPI_STATUSES_IGNORE);
        EXPECT(sum == size * (size - 1) / 2);
    }
    for (int i = 0; i < 3; i++) C(Request_free, &requests[i]);
    C(Isendrecv, &mine, 1, MPI_INT, right, 80, &got, 1, MPI_INT, left, 80, comm, &requests[0]);
    C(Wait, &requests[0], MPI_STATUS_IGNORE);
    EXPECT(got == left);
#else
    (void)comm;
#endif
}
