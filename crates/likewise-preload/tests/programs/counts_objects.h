/* Communicators, groups, topologies, datatypes, attributes, error handlers
 * and the like for counts_c.c. */

static int copied(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static void attributes(void) {
    MPI_Comm comm;
    int key, flag, *found, value = 7;
    C(Comm_create_keyval, copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    C(Comm_set_attr, MPI_COMM_WORLD, key, &value);
    C(Comm_dup, MPI_COMM_WORLD, &comm);
    C(Comm_get_attr, comm, key, &found, &flag);
    EXPECT(flag && *found == 7);
    C(Comm_get_attr, MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag);
    EXPECT(flag);
    C(Comm_delete_attr, comm, key);
    C(Comm_delete_attr, MPI_COMM_WORLD, key);
    C(Comm_free_keyval, &key);
    C(Comm_set_name, comm, "of attributes");
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    C(Comm_get_name, comm, name, &length);
    EXPECT(strcmp(name, "of attributes") == 0);
    C(Comm_free, &comm);
}

static void communicators(void) {
    MPI_Comm world = MPI_COMM_WORLD, half, copy, later, some, same, node;
    MPI_Request request;
    int n, me, flag, result;
    C(Comm_split, world, rank % 2, -rank, &half);
    C(Comm_size, half, &n);
    C(Comm_rank, half, &me);
    EXPECT(n == (size + 1 - rank % 2) / 2);
    int sum = 0;
    for (int i = 0; i < 4; i++) C(Allreduce, &rank, &sum, 1, MPI_INT, MPI_SUM, half);
    if (n > 1) {
        int next = (me + 1) % n, before = (me + n - 1) % n, got = -1;
        C(Sendrecv, &me, 1, MPI_INT, next, 5, &got, 1, MPI_INT, before, 5, half, MPI_STATUS_IGNORE);
        EXPECT(got == before);
    }
    C(Comm_split, world, rank == 0 ? MPI_UNDEFINED : 0, 0, &some);
    if (some != MPI_COMM_NULL) C(Comm_free, &some);
    C(Comm_split_type, world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    C(Barrier, node);
    C(Comm_free, &node);
    C(Comm_idup, world, &later, &request);
    C(Wait, &request, MPI_STATUS_IGNORE);
    C(Barrier, later);
    C(Comm_free, &later);
    C(Comm_dup_with_info, half, MPI_INFO_NULL, &copy);
    C(Comm_compare, half, copy, &result);
    EXPECT(result == MPI_CONGRUENT);
    C(Comm_test_inter, copy, &flag);
    EXPECT(!flag);
    C(Bcast, &sum, 1, MPI_INT, 0, copy);
    C(Comm_free, &copy);

    MPI_Group all, evens;
    int range[1][3] = {{0, size - 1, 2}};
    C(Comm_group, world, &all);
    C(Group_range_incl, all, 1, range, &evens);
    C(Comm_create, world, evens, &same);
    if (same != MPI_COMM_NULL) {
        C(Barrier, same);
        C(Comm_free, &same);
    }
    if (rank % 2 == 0) {
        C(Comm_create_group, world, evens, 9, &same);
        C(Allreduce, &rank, &sum, 1, MPI_INT, MPI_SUM, same);
        C(Comm_free, &same);
    }
    C(Group_free, &evens);
    C(Group_free, &all);

    if (size > 1) {
        MPI_Comm inter, merged;
        C(Intercomm_create, half, 0, world, rank % 2 ? (size - 1) / 2 * 2 : (size / 2) * 2 - 1, 8, &inter);
        MPI_Group remote;
        C(Comm_remote_size, inter, &n);
        EXPECT(n == (size + rank % 2) / 2);
        C(Comm_remote_group, inter, &remote);
        C(Group_free, &remote);
        C(Comm_rank, inter, &me);
        int got = -1, root = rank % 2 ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, shared = rank % 2 ? -1 : 4;
        if (me < n) {
            MPI_Status status;
            if (rank % 2) C(Send, &rank, 1, MPI_INT, me, 6, inter);
            else C(Recv, &got, 1, MPI_INT, MPI_ANY_SOURCE, 6, inter, &status);
        }
        C(Bcast, &shared, 1, MPI_INT, root, inter);
        EXPECT(shared == 4);
        C(Intercomm_merge, inter, rank % 2, &merged);
        C(Comm_size, merged, &n);
        EXPECT(n == size);
        C(Allreduce, &rank, &sum, 1, MPI_INT, MPI_SUM, merged);
        C(Comm_free, &merged);
        C(Comm_free, &inter);
    }
    C(Comm_free, &half);
    /* Handles of what was freed are used again. */
    for (int i = 0; i < 10; i++) {
        C(Comm_dup, i % 2 ? MPI_COMM_SELF : world, &copy);
        C(Barrier, copy);
        if (i % 2) C(Comm_free, &copy);
        else C(Comm_disconnect, &copy);
    }
}

static void groups(void) {
    MPI_Group all, first, rest, both, none;
    int zero[1] = {0}, translated[1], result, n, me, range[1][3] = {{0, 0, 1}};
    C(Comm_group, MPI_COMM_WORLD, &all);
    C(Group_incl, all, 1, zero, &first);
    C(Group_excl, all, 1, zero, &rest);
    C(Group_union, first, rest, &both);
    C(Group_compare, all, both, &result);
    EXPECT(result == MPI_IDENT || result == MPI_SIMILAR);
    C(Group_intersection, all, first, &none);
    C(Group_free, &none);
    C(Group_difference, all, first, &none);
    C(Group_size, none, &n);
    EXPECT(n == size - 1);
    C(Group_rank, none, &me);
    C(Group_translate_ranks, first, 1, zero, all, translated);
    EXPECT(translated[0] == 0);
    if (none != MPI_GROUP_EMPTY) C(Group_free, &none);
    C(Group_range_excl, all, 1, range, &none);
    if (none != MPI_GROUP_EMPTY) C(Group_free, &none);
    if (rest != MPI_GROUP_EMPTY) C(Group_free, &rest);
    C(Group_free, &both);
    C(Group_free, &first);
    C(Group_free, &all);
}

static void topologies(void) {
    MPI_Comm ring, grid, row, graph, dist, adjacent;
    int periodic[2] = {1, 1}, dims[2] = {0, 0}, coords[2], before, after, n, m, kind, place, weighted;
    C(Cart_create, MPI_COMM_WORLD, 1, &size, periodic, 0, &ring);
    C(Cart_shift, ring, 0, 1, &before, &after);
    EXPECT(before == left && after == right);
    neighbourhood(ring);
    C(Cart_map, ring, 1, &size, periodic, &place);
    C(Comm_free, &ring);
    C(Dims_create, size, 2, dims);
    C(Cart_create, MPI_COMM_WORLD, 2, dims, periodic, 1, &grid);
    C(Cartdim_get, grid, &n);
    EXPECT(n == 2);
    C(Cart_get, grid, 2, dims, periodic, coords);
    C(Cart_rank, grid, coords, &n);
    C(Cart_coords, grid, n, 2, coords);
    int remain[2] = {0, 1};
    C(Cart_sub, grid, remain, &row);
    C(Allreduce, MPI_IN_PLACE, &n, 1, MPI_INT, MPI_MAX, row);
    C(Topo_test, grid, &kind);
    EXPECT(kind == MPI_CART);
    C(Comm_free, &row);
    C(Comm_free, &grid);

    int index[MOST_RANKS], edges[2 * MOST_RANKS], neighbours[2], weights[2];
    for (int i = 0; i < size; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + size - 1) % size;
        edges[2 * i + 1] = (i + 1) % size;
    }
    C(Graph_create, MPI_COMM_WORLD, size, index, edges, 0, &graph);
    C(Graphdims_get, graph, &n, &m);
    EXPECT(n == size && m == 2 * size);
    C(Graph_neighbors_count, graph, rank, &n);
    C(Graph_neighbors, graph, rank, n, neighbours);
    C(Graph_get, graph, size, 2 * size, index, edges);
    C(Graph_map, graph, size, index, edges, &place);
    int sent = rank, got[2];
    C(Neighbor_allgather, &sent, 1, MPI_INT, got, 1, MPI_INT, graph);
    C(Comm_free, &graph);

    int ends[2] = {left, right}, degree = 2;
    C(Dist_graph_create, MPI_COMM_WORLD, 1, &rank, &degree, ends, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &dist);
    C(Dist_graph_neighbors_count, dist, &n, &m, &weighted);
    EXPECT(n == 2 && m == 2 && !weighted);
    C(Neighbor_alltoall, ends, 1, MPI_INT, got, 1, MPI_INT, dist);
    C(Comm_free, &dist);
    C(Dist_graph_create_adjacent, MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL,
      0, &adjacent);
    C(Dist_graph_neighbors, adjacent, 1, neighbours, weights, 1, neighbours + 1, weights + 1);
    C(Neighbor_allgather, &sent, 1, MPI_INT, got, 1, MPI_INT, adjacent);
    EXPECT(got[0] == left);
    C(Comm_free, &adjacent);
}

static void send_to_self(MPI_Datatype type) {
    static double from[64], to[64];
    MPI_Request request;
    C(Irecv, to, 1, type, 0, 3, MPI_COMM_SELF, &request);
    C(Send, from, 1, type, 0, 3, MPI_COMM_SELF);
    C(Wait, &request, MPI_STATUS_IGNORE);
}

static void datatypes(void) {
    enum { N = 14 };
    MPI_Datatype types[N], pair[2] = {MPI_DOUBLE, MPI_INT};
    int lengths[2] = {1, 2}, at[2] = {0, 4}, sizes[2] = {4, 4}, part[2] = {2, 2}, start[2] = {1, 1}, n = 0;
    int distribution = MPI_DISTRIBUTE_BLOCK, argument = MPI_DISTRIBUTE_DFLT_DARG, whole = 8, one = 1;
    MPI_Aint bytes[2] = {0, 64}, lower, extent;
    C(Type_contiguous, 3, MPI_DOUBLE, &types[n++]);
    C(Type_vector, 2, 1, 3, MPI_DOUBLE, &types[n++]);
    C(Type_create_hvector, 2, 1, 40, MPI_DOUBLE, &types[n++]);
    C(Type_indexed, 2, lengths, at, MPI_DOUBLE, &types[n++]);
    C(Type_create_hindexed, 2, lengths, bytes, MPI_DOUBLE, &types[n++]);
    C(Type_create_indexed_block, 2, 2, at, MPI_DOUBLE, &types[n++]);
    C(Type_create_hindexed_block, 2, 2, bytes, MPI_DOUBLE, &types[n++]);
    C(Type_create_struct, 2, lengths, bytes, pair, &types[n++]);
    C(Type_create_subarray, 2, sizes, part, start, MPI_ORDER_C, MPI_DOUBLE, &types[n++]);
    C(Type_create_darray, 1, 0, 1, &whole, &distribution, &argument, &one, MPI_ORDER_C, MPI_DOUBLE, &types[n++]);
    C(Type_create_resized, MPI_DOUBLE, 0, 32, &types[n++]);
    C(Type_dup, types[0], &types[n++]);
    C(Type_vector, 2, 1, 4, types[0], &types[n++]);
    C(Type_create_f90_real, 15, 300, &types[n]); /* not to be freed */
    for (int i = 0; i < n; i++) {
        int bytes_in = 0;
        C(Type_commit, &types[i]);
        C(Type_size, types[i], &bytes_in);
        EXPECT(bytes_in > 0);
        send_to_self(types[i]);
    }
    C(Type_get_extent, types[10], &lower, &extent);
    EXPECT(extent == 32);
    C(Type_get_true_extent, types[10], &lower, &extent);
    int integers, addresses, inner, combiner, content[4];
    MPI_Aint addresses_of[1];
    MPI_Datatype of[1];
    C(Type_get_envelope, types[0], &integers, &addresses, &inner, &combiner);
    EXPECT(combiner == MPI_COMBINER_CONTIGUOUS);
    C(Type_get_contents, types[0], integers, addresses, inner, content, addresses_of, of);
    C(Type_set_name, types[0], "three doubles");
    char name[MPI_MAX_OBJECT_NAME];
    int length, place = 0, packed = 0, numbers[4] = {1, 2, 3, 4};
    C(Type_get_name, types[0], name, &length);
    for (int i = 0; i < n; i++) C(Type_free, &types[i]);
    char space[64];
    C(Pack_size, 4, MPI_INT, MPI_COMM_WORLD, &packed);
    C(Pack, numbers, 4, MPI_INT, space, (int)sizeof space, &place, MPI_COMM_WORLD);
    place = 0;
    C(Unpack, space, (int)sizeof space, &place, numbers, 4, MPI_INT, MPI_COMM_WORLD);
    EXPECT(numbers[3] == 4);
    C(Get_address, numbers, &lower);
}

static int handled;
static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
}

static void errors(void) {
    MPI_Comm comm;
    MPI_Errhandler before, own;
    int value = 0, class, length;
    char text[MPI_MAX_ERROR_STRING];
    C(Comm_dup, MPI_COMM_WORLD, &comm);
    C(Comm_get_errhandler, comm, &before);
    C(Errhandler_free, &before);
    C(Comm_set_errhandler, comm, MPI_ERRORS_RETURN);
    int code = C(Send, &value, 1, MPI_INT, size + 5, 0, comm);
    EXPECT(code != MPI_SUCCESS);
    C(Error_class, code, &class);
    EXPECT(class == MPI_ERR_RANK);
    C(Error_string, code, text, &length);
    EXPECT(C(Send, &value, -1, MPI_INT, 0, 0, comm) != MPI_SUCCESS);
    EXPECT(C(Bcast, &value, 1, MPI_INT, size + 1, comm) != MPI_SUCCESS);
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT(C(Irecv, &value, 1, MPI_DATATYPE_NULL, 0, 0, comm, &request) != MPI_SUCCESS);
    C(Comm_create_errhandler, handler, &own);
    C(Comm_set_errhandler, comm, own);
    C(Errhandler_free, &own);
    C(Send, &value, 1, MPI_INT, size + 5, 0, comm);
    C(Comm_call_errhandler, comm, MPI_ERR_OTHER);
    EXPECT(handled == 2);
    /* A message that does not fit is an error of the receive. */
    int two[2] = {1, 2};
    MPI_Status status;
    C(Comm_set_errhandler, comm, MPI_ERRORS_RETURN);
    C(Isend, two, 2, MPI_INT, rank, 4, comm, &request);
    code = C(Recv, &value, 1, MPI_INT, rank, 4, comm, &status);
    C(Error_class, code, &class);
    EXPECT(class == MPI_ERR_TRUNCATE);
    C(Wait, &request, MPI_STATUS_IGNORE);
    C(Add_error_class, &class);
    C(Add_error_code, class, &code);
    C(Add_error_string, code, "our own");
    C(Comm_free, &comm);
}

static void add(void *in, void *in_out, int *length, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *length; i++) ((int *)in_out)[i] += ((int *)in)[i];
}

static void operations_and_info(void) {
    MPI_Op op;
    MPI_Info info, copy;
    int sum = 0, commutes, keys, length, flag;
    char key[MPI_MAX_INFO_KEY], value[16];
    C(Op_create, add, 1, &op);
    C(Op_commutative, op, &commutes);
    C(Allreduce, &rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    EXPECT(commutes && sum == size * (size - 1) / 2);
    C(Op_free, &op);
    C(Info_create, &info);
    C(Info_set, info, "colour", "red");
    C(Info_dup, info, &copy);
    C(Info_get_nkeys, copy, &keys);
    C(Info_get_nthkey, copy, 0, key);
    C(Info_get_valuelen, copy, "colour", &length, &flag);
    C(Info_get, copy, "colour", 15, value, &flag);
    EXPECT(flag && keys == 1 && strcmp(value, "red") == 0);
    C(Info_delete, info, "colour");
    C(Info_free, &info);
    C(Info_free, &copy);
}

static void questions(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING > MPI_MAX_PROCESSOR_NAME ? MPI_MAX_LIBRARY_VERSION_STRING
                                                                     : MPI_MAX_PROCESSOR_NAME];
    int length, flag, version, minor;
    void *memory;
    C(Initialized, &flag);
    C(Finalized, &flag);
    C(Is_thread_main, &flag);
    C(Query_thread, &flag);
    C(Get_version, &version, &minor);
    C(Get_library_version, text, &length);
    C(Get_processor_name, text, &length);
    C(Pcontrol, 1);
    C(Alloc_mem, 128, MPI_INFO_NULL, &memory);
    C(Free_mem, memory);
}
