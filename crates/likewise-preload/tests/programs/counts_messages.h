/* Point-to-point calls for counts_c.c: every way to send, to receive, to wait
 * and to ask. All work with one rank too, which then talks to itself. */

static int rank, size, left, right;

static void blocking_messages(void) {
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request;
    MPI_Status status;
    int sent = rank, got = -1, space = 4096;
    for (int mode = 0; mode < 4; mode++) {
        C(Irecv, &got, 1, MPI_INT, left, 10 + mode, world, &request);
        C(Barrier, world); /* MPI_Rsend wants the receive to be there */
        if (mode == 0) C(Send, &sent, 1, MPI_INT, right, 10, world);
        if (mode == 1) C(Rsend, &sent, 1, MPI_INT, right, 11, world);
        if (mode == 2 && size > 1) C(Ssend, &sent, 1, MPI_INT, right, 12, world);
        if (mode == 2 && size == 1) C(Send, &sent, 1, MPI_INT, right, 12, world);
        if (mode == 3) {
            void *buffer = malloc((size_t)space), *back;
            C(Buffer_attach, buffer, space);
            C(Bsend, &sent, 1, MPI_INT, right, 13, world);
            C(Buffer_detach, &back, &space);
            free(buffer);
            space = 4096;
        }
        C(Wait, &request, mode % 2 ? &status : MPI_STATUS_IGNORE);
        EXPECT(got == left);
    }
    C(Sendrecv, &sent, 1, MPI_INT, right, 20, &got, 1, MPI_INT, left, 20, world, &status);
    int count = 0;
    C(Get_count, &status, MPI_INT, &count);
    EXPECT(count == 1 && got == left);
    C(Sendrecv_replace, &sent, 1, MPI_INT, right, 21, left, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
    C(Send, &sent, 1, MPI_INT, MPI_PROC_NULL, 1, world);
    C(Recv, &got, 1, MPI_INT, MPI_PROC_NULL, 1, world, &status);
    C(Sendrecv, &sent, 0, MPI_INT, MPI_PROC_NULL, 22, &got, 1, MPI_INT, MPI_PROC_NULL, 22, world, MPI_STATUS_IGNORE);
}

static void wildcards(void) {
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Status status;
    double value = rank, got = 0, sum = 0;
    if (rank > 0) {
        for (int i = 0; i < 5; i++) C(Send, &value, 1, MPI_DOUBLE, 0, 30 + i, world);
        return;
    }
    for (int i = 0; i < 5 * (size - 1); i++) {
        C(Recv, &got, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
        EXPECT(got == status.MPI_SOURCE);
        sum += got;
    }
    EXPECT(sum == 5.0 * size * (size - 1) / 2);
}

static void nonblocking_messages(void) {
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request requests[8];
    MPI_Status statuses[8];
    int sent[4] = {rank, rank + 1, rank + 2, rank + 3}, got[4];
    for (int round = 0; round < 10; round++) {
        int source = round % 2 ? MPI_ANY_SOURCE : left;
        for (int i = 0; i < 4; i++) C(Irecv, &got[i], 1, MPI_INT, i ? left : source, 40 + i, world, &requests[i]);
        C(Barrier, world);
        C(Isend, &sent[0], 1, MPI_INT, right, 40, world, &requests[4]);
        C(Issend, &sent[1], 1, MPI_INT, right, 41, world, &requests[5]);
        C(Irsend, &sent[2], 1, MPI_INT, right, 42, world, &requests[6]);
        C(Isend, &sent[3], 1, MPI_INT, right, 43, world, &requests[7]);
        C(Waitall, 8, requests, round % 3 ? statuses : MPI_STATUSES_IGNORE);
        for (int i = 0; i < 4; i++) EXPECT(got[i] == left + i);
    }
    void *buffer = malloc(4096), *back;
    int space = 4096;
    C(Buffer_attach, buffer, space);
    C(Irecv, &got[0], 1, MPI_INT, left, 44, world, &requests[0]);
    C(Ibsend, &sent[0], 1, MPI_INT, right, 44, world, &requests[1]);
    C(Waitall, 2, requests, MPI_STATUSES_IGNORE);
    C(Buffer_detach, &back, &space);
    free(buffer);
    /* A request that nobody waits for. */
    C(Irecv, &got[0], 1, MPI_INT, left, 45, world, &requests[0]);
    C(Isend, &sent[0], 1, MPI_INT, right, 45, world, &requests[1]);
    C(Request_free, &requests[1]);
    C(Wait, &requests[0], MPI_STATUS_IGNORE);
    C(Barrier, world);
    /* A receive that never gets anything. */
    int flag;
    C(Irecv, &got[0], 1, MPI_INT, left, 46, world, &requests[0]);
    C(Cancel, &requests[0]);
    C(Wait, &requests[0], &statuses[0]);
    C(Test_cancelled, &statuses[0], &flag);
    EXPECT(flag);
    C(Wait, &requests[0], &statuses[0]); /* null by now */
}

/* Each call of the wait and test families, until all is done. */
static void completions(void) {
    enum { N = 6 };
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request requests[N];
    MPI_Status statuses[N];
    int sent[N], got[N], flag, index, outcount, indices[N];
    for (int way = 0; way < 8; way++) {
        for (int i = 0; i < N / 2; i++) {
            sent[i] = 100 * rank + i;
            C(Irecv, &got[i], 1, MPI_INT, i == 1 ? MPI_ANY_SOURCE : left, i == 2 ? MPI_ANY_TAG : 50 + i, world, &requests[i]);
        }
        C(Barrier, world);
        for (int i = 0; i < N / 2; i++) C(Isend, &sent[i], 1, MPI_INT, right, 50 + i, world, &requests[N / 2 + i]);
        int left_over = N;
        switch (way) {
        case 0:
            for (int i = 0; i < N; i++) C(Wait, &requests[i], &statuses[i]);
            break;
        case 1:
            for (int i = 0; i < N; i++) do C(Test, &requests[i], &flag, &statuses[i]); while (!flag);
            break;
        case 2:
            do C(Testall, N, requests, &flag, statuses); while (!flag);
            break;
        case 3:
            while (left_over > 0) {
                C(Testany, N, requests, &index, &flag, MPI_STATUS_IGNORE);
                if (flag && index != MPI_UNDEFINED) left_over--;
            }
            C(Testany, N, requests, &index, &flag, statuses);
            EXPECT(flag && index == MPI_UNDEFINED);
            break;
        case 4:
            do {
                C(Testsome, N, requests, &outcount, indices, statuses);
                left_over -= outcount;
            } while (left_over > 0);
            C(Testsome, N, requests, &outcount, indices, MPI_STATUSES_IGNORE);
            EXPECT(outcount == MPI_UNDEFINED);
            break;
        case 5:
            for (; left_over > 0; left_over--) C(Waitany, N, requests, &index, statuses);
            C(Waitany, N, requests, &index, MPI_STATUS_IGNORE);
            EXPECT(index == MPI_UNDEFINED);
            break;
        case 6:
            do {
                C(Waitsome, N, requests, &outcount, indices, statuses);
                left_over -= outcount;
            } while (left_over > 0);
            break;
        default:
            do C(Request_get_status, requests[0], &flag, statuses); while (!flag);
            C(Waitall, N, requests, statuses);
        }
        for (int i = 0; i < N / 2; i++) EXPECT(got[i] == 100 * left + i);
        C(Barrier, world);
    }
    C(Waitall, 0, requests, MPI_STATUSES_IGNORE);
}

static void persistent(void) {
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request requests[5];
    int sent = rank, got = -1;
    char space[4096], *back;
    int bytes = sizeof space;
    C(Recv_init, &got, 1, MPI_INT, left, 60, world, &requests[0]);
    C(Send_init, &sent, 1, MPI_INT, right, 60, world, &requests[1]);
    for (int i = 0; i < 10; i++) {
        C(Startall, 2, requests);
        C(Waitall, 2, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 5; i++) {
        int flag = 0;
        C(Start, &requests[0]);
        C(Start, &requests[1]);
        while (!flag) C(Test, &requests[0], &flag, MPI_STATUS_IGNORE);
        C(Wait, &requests[1], MPI_STATUS_IGNORE);
        C(Wait, &requests[1], MPI_STATUS_IGNORE); /* inactive */
    }
    C(Buffer_attach, space, bytes);
    C(Ssend_init, &sent, 1, MPI_INT, right, 60, world, &requests[2]);
    C(Bsend_init, &sent, 1, MPI_INT, right, 60, world, &requests[3]);
    C(Rsend_init, &sent, 1, MPI_INT, right, 60, world, &requests[4]);
    for (int kind = 2; kind < 5; kind++) {
        C(Start, &requests[0]);
        C(Barrier, world);
        C(Start, &requests[kind]);
        C(Wait, &requests[0], MPI_STATUS_IGNORE);
        C(Wait, &requests[kind], MPI_STATUS_IGNORE);
        EXPECT(got == left);
    }
    for (int kind = 0; kind < 5; kind++) C(Request_free, &requests[kind]);
    C(Buffer_detach, &back, &bytes);
}

static void probes(void) {
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Message message;
    MPI_Request request, receive;
    MPI_Status status;
    int sent = rank, got = -1, flag = 0, count = 0;
    for (int way = 0; way < 6; way++) {
        int tag = 70 + way;
        C(Isend, &sent, 1, MPI_INT, right, tag, world, &request);
        switch (way) {
        case 0:
            C(Probe, left, tag, world, &status);
            C(Get_count, &status, MPI_INT, &count);
            C(Get_elements, &status, MPI_INT, &count);
            C(Recv, &got, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, world, MPI_STATUS_IGNORE);
            break;
        case 1:
            C(Probe, MPI_ANY_SOURCE, tag, world, &status);
            C(Recv, &got, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, world, &status);
            break;
        case 2:
            for (flag = 0; !flag;) C(Iprobe, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, &status);
            C(Recv, &got, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, world, MPI_STATUS_IGNORE);
            break;
        case 3:
            C(Mprobe, left, MPI_ANY_TAG, world, &message, &status);
            C(Mrecv, &got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
            break;
        case 4:
            for (flag = 0; !flag;) C(Improbe, MPI_ANY_SOURCE, tag, world, &flag, &message, &status);
            C(Imrecv, &got, 1, MPI_INT, &message, &receive);
            C(Wait, &receive, &status);
            break;
        default:
            for (flag = 0; !flag;) C(Iprobe, left, tag, world, &flag, MPI_STATUS_IGNORE);
            C(Recv, &got, 1, MPI_INT, left, tag, world, MPI_STATUS_IGNORE);
        }
        EXPECT(got == left);
        C(Wait, &request, MPI_STATUS_IGNORE);
        C(Barrier, world);
    }
    C(Iprobe, MPI_PROC_NULL, 1, world, &flag, &status);
    EXPECT(flag);
}

/* A request of the program's own. */
static int query(void *state, MPI_Status *status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
static int release(void *state) { (void)state; return MPI_SUCCESS; }
static int cancel(void *state, int complete) { (void)state; (void)complete; return MPI_SUCCESS; }

static void own_requests(void) {
    MPI_Request request;
    C(Grequest_start, query, release, cancel, NULL, &request);
    C(Grequest_complete, request);
    C(Wait, &request, MPI_STATUS_IGNORE);
    MPI_Status status;
    memset(&status, 0, sizeof status);
    C(Status_set_elements, &status, MPI_INT, 3);
    C(Status_set_cancelled, &status, 0);
    int count = 0;
    C(Get_count, &status, MPI_INT, &count);
    EXPECT(count == 3);
}
