/* A program without MPI. */
#include <stdio.h>

int main(void) {
    puts("nothing of MPI");
    return 11;
}
