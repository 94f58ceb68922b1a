/* Is not linked with MPI, asks whether it is, and loads a library that is: for itself
 * alone, as Python loads its modules.
 *
 * Usage: p_asks_late LIBRARY. The library is asks.c, built with -shared -fPIC.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#pragma weak MPI_Initialized
int MPI_Initialized(int *);

int main(int argc, char **argv) {
    void *program = dlopen(NULL, RTLD_LAZY);
    int is_linked = dlsym(program, "MPI_Get_version") || dlsym(RTLD_DEFAULT, "MPI_Send_c") || MPI_Initialized;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        fprintf(stderr, "p_asks_late: %s\n", dlerror());
        return 2;
    }
    int (*asks)(void) = NULL;
    *(void **)&asks = dlsym(library, "asks");
    if (is_linked) puts("MPI there");
    fflush(stdout);
    return asks ? asks() : 2;
}
