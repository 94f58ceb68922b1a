/* One-sided communication and files for counts_c.c. */

static void windows(void) {
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Win win, allocated;
    MPI_Group all, to, from;
    int memory[8] = {0}, *space, one = 1, got = -1, zero = 0, flag = 0;
    MPI_Request request;
    C(Win_create, memory, sizeof memory, (int)sizeof(int), MPI_INFO_NULL, world, &win);
    C(Win_fence, 0, win);
    C(Put, &rank, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    C(Win_fence, 0, win);
    EXPECT(memory[0] == left);
    C(Get, &got, 1, MPI_INT, left, 0, 1, MPI_INT, win);
    C(Win_fence, 0, win);
    EXPECT(got == (left + size - 1) % size);
    C(Accumulate, &one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
    C(Win_fence, 0, win);
    EXPECT(rank > 0 || memory[1] == size);

    C(Win_lock, MPI_LOCK_EXCLUSIVE, 0, 0, win);
    C(Get_accumulate, &one, 1, MPI_INT, &got, 1, MPI_INT, 0, 2, 1, MPI_INT, MPI_SUM, win);
    C(Win_unlock, 0, win);
    C(Win_lock_all, 0, win);
    C(Fetch_and_op, &one, &got, MPI_INT, 0, 3, MPI_SUM, win);
    C(Win_flush, 0, win);
    C(Compare_and_swap, &one, &zero, &got, MPI_INT, 0, 4, win);
    C(Win_flush_local, 0, win);
    C(Win_flush_all, win);
    C(Win_flush_local_all, win);
    C(Win_sync, win);
    C(Win_unlock_all, win);
    C(Barrier, world);
    C(Win_lock, MPI_LOCK_SHARED, rank, 0, win);
    EXPECT(rank > 0 || (memory[2] == size && memory[3] == size));
    C(Win_unlock, rank, win);
    C(Barrier, world);

    C(Win_get_group, win, &all);
    C(Group_incl, all, 1, &right, &to);
    C(Group_incl, all, 1, &left, &from);
    for (int i = 0; i < 2; i++) {
        C(Win_post, from, 0, win);
        C(Win_start, to, 0, win);
        C(Put, &rank, 1, MPI_INT, right, 5, 1, MPI_INT, win);
        C(Win_complete, win);
        if (i == 0) C(Win_wait, win);
        else for (flag = 0; !flag;) C(Win_test, win, &flag);
        EXPECT(memory[5] == left);
    }
    C(Group_free, &to);
    C(Group_free, &from);
    C(Group_free, &all);
    C(Win_set_name, win, "memory");
    C(Win_free, &win);

    C(Win_allocate, 64, 1, MPI_INFO_NULL, world, &space, &allocated);
    memset(space, 0, 64);
    C(Barrier, world);
    C(Win_lock_all, 0, allocated);
    C(Rput, &rank, 1, MPI_INT, right, 0, 1, MPI_INT, allocated, &request);
    C(Wait, &request, MPI_STATUS_IGNORE);
    C(Win_flush_all, allocated);
    C(Rget, &got, 1, MPI_INT, right, 0, 1, MPI_INT, allocated, &request);
    C(Wait, &request, MPI_STATUS_IGNORE);
    EXPECT(got == rank);
    C(Raccumulate, &one, 1, MPI_INT, 0, 8, 1, MPI_INT, MPI_SUM, allocated, &request);
    C(Wait, &request, MPI_STATUS_IGNORE);
    C(Rget_accumulate, &one, 1, MPI_INT, &got, 1, MPI_INT, 0, 12, 1, MPI_INT, MPI_SUM, allocated, &request);
    C(Wait, &request, MPI_STATUS_IGNORE);
    C(Win_unlock_all, allocated);
    C(Barrier, world);
    C(Win_free, &allocated);

    MPI_Win shared;
    MPI_Aint bytes;
    int unit, *mine;
    C(Win_allocate_shared, 64, 1, MPI_INFO_NULL, world, &mine, &shared);
    C(Win_shared_query, shared, 0, &bytes, &unit, &space);
    EXPECT(bytes >= 64);
    C(Win_free, &shared);
    C(Win_create_dynamic, MPI_INFO_NULL, world, &win);
    C(Win_attach, win, memory, sizeof memory);
    C(Barrier, world);
    C(Win_detach, win, memory);
    C(Win_free, &win);
}

static void files(void) {
    const char *folder = getenv("COUNTS_DIR");
    char name[4096];
    snprintf(name, sizeof name, "%s/file.bin", folder ? folder : ".");
    MPI_File file;
    MPI_Request request;
    MPI_Status status;
    MPI_Offset bytes;
    int value = rank, got = -1, all[MOST_RANKS], mode;
    MPI_Offset mine = rank * (MPI_Offset)sizeof(int);
    C(File_open, MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    C(File_set_size, file, 0);
    C(File_write_at, file, mine, &value, 1, MPI_INT, &status);
    C(File_sync, file);
    C(Barrier, MPI_COMM_WORLD);
    C(File_read_at, file, right * (MPI_Offset)sizeof(int), &got, 1, MPI_INT, MPI_STATUS_IGNORE);
    EXPECT(got == right);
    C(File_write_at_all, file, mine, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    C(File_read_at_all, file, mine, &got, 1, MPI_INT, &status);
    C(File_seek, file, 0, MPI_SEEK_SET);
    C(File_get_position, file, &bytes);
    C(File_read, file, all, size, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; i++) EXPECT(all[i] == i);
    C(File_iwrite_at, file, mine, &value, 1, MPI_INT, &request);
    C(Wait, &request, MPI_STATUS_IGNORE);
    C(File_iread_at, file, mine, &got, 1, MPI_INT, &request);
    C(Wait, &request, &status);
    C(File_set_view, file, mine, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    C(File_write, file, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    C(File_seek, file, 0, MPI_SEEK_SET);
    C(File_read_all, file, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
    C(File_seek, file, 0, MPI_SEEK_SET);
    C(File_write_all, file, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    EXPECT(got == rank);
    C(File_get_size, file, &bytes);
    C(File_get_amode, file, &mode);
    C(File_preallocate, file, 64);
    C(File_close, &file);
    C(Barrier, MPI_COMM_WORLD);
    if (rank == 0) C(File_delete, name, MPI_INFO_NULL);
    C(Barrier, MPI_COMM_WORLD); /* before the next round opens it again */
    /* The error handler of files returns, unless somebody says otherwise. */
    EXPECT(C(File_open, MPI_COMM_SELF, "/no such folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS);
}
