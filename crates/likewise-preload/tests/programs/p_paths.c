/* Call paths that are hard to tell apart: random recursion, frames of variable size, callbacks, pointers. */
#include <alloca.h>
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*function)(int);

static unsigned long state = 88172645463325252UL;
static function functions[8];
static volatile int sink;
static double a[4], b[4];
static jmp_buf back;

static unsigned draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 20);
}

static void any(int depth) { functions[draw() % 8](depth); }

#define CALL MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF)
#define APART __attribute__((noinline)) static

APART void leaf(void) {
    CALL;
    sink++;
}

static int compare(const void *x, const void *y) {
    if (draw() % 16 == 0) CALL;
    return *(const int *)x - *(const int *)y;
}

APART void plain(int depth) {
    if (depth <= 0) leaf();
    else any(depth - 1);
    sink++;
}

APART void variable(int depth) {
    volatile char bytes[16 + draw() % 8 * 16];
    bytes[0] = 1;
    if (depth <= 0) CALL;
    else any(depth - 1);
    sink += bytes[0];
}

APART void twice(int depth) {
    volatile long x[7];
    x[3] = depth;
    if (depth <= 0) {
        CALL;
    } else {
        any(depth - 1);
        any(depth - 2);
    }
    sink += (int)x[3];
}

APART void allocated(int depth) {
    volatile char *bytes = alloca(8 + draw() % 4 * 64);
    bytes[0] = 1;
    if (depth <= 0) {
        leaf();
        leaf();
    } else {
        any(depth - 1);
    }
    sink += bytes[0];
}

APART void sorts(int depth) {
    int values[8];
    for (int i = 0; i < 8; i++) values[i] = (int)(draw() % 100);
    qsort(values, 8, sizeof values[0], compare);
    if (depth > 0) any(depth - 1);
    sink += values[0];
}

APART void loops(int depth) {
    if (depth > 0)
        for (int i = 0; i < 2; i++) any(depth - 3);
    CALL;
    sink++;
}

APART void jumps(int depth) {
    volatile double z[3] = {depth, 1, 2};
    if (depth > 0) any(depth - 1);
    else CALL;
    if (draw() % 64 == 0) longjmp(back, 1);
    sink += (int)z[1];
}

APART void deep(int depth) {
    if (depth > 0) deep(depth - 1);
    else CALL;
    sink++;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    function all[8] = {plain, variable, twice, allocated, sorts, loops, jumps, deep};
    for (int i = 0; i < 8; i++) functions[i] = all[i];
    volatile int rounds = argc > 1 ? atoi(argv[1]) : 1000;
    setjmp(back);
    while (rounds-- > 0) any((int)(draw() % 8));
    /* Deeper than any path is kept. */
    for (int i = 0; i < 3; i++) deep(100);
    MPI_Finalize();
    return 0;
}
