/* Counts the MPI calls that a program makes, by name, without any tool.
 *
 * C(Send, buffer, …) counts MPI_Send and calls it. write_counts() writes
 * counts-RANK.txt into the folder that COUNTS_DIR names: a line "MPI_Send 12"
 * for each call. It is called just before MPI_Finalize, which is counted with
 * it.
 */
#ifndef COUNTING_H
#define COUNTING_H

#include "quiet.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CALLS = 512 };

static struct {
    const char *name;
    long count;
} counted[MOST_CALLS];
static int n_counted;

static void count_call(const char *name) {
    for (int i = 0; i < n_counted; i++) {
        if (strcmp(counted[i].name, name) == 0) {
            counted[i].count++;
            return;
        }
    }
    if (n_counted == MOST_CALLS) {
        fprintf(stderr, "counting.h: more than %d different calls\n", MOST_CALLS);
        exit(1);
    }
    counted[n_counted].name = name;
    counted[n_counted].count = 1;
    n_counted++;
}

#define C(name, ...) (count_call("MPI_" #name), MPI_##name(__VA_ARGS__))

static void write_counts(int rank) {
    const char *folder = getenv("COUNTS_DIR");
    char file[4096];
    snprintf(file, sizeof file, "%s/counts-%d.txt", folder ? folder : ".", rank);
    FILE *out = fopen(file, "w");
    if (!out) {
        perror(file);
        exit(1);
    }
    for (int i = 0; i < n_counted; i++) fprintf(out, "%s %ld\n", counted[i].name, counted[i].count);
    if (fclose(out) != 0) {
        perror(file);
        exit(1);
    }
}

/* Ends the program where a result is not what it has to be: a recorder must
 * not change one. */
#define EXPECT(condition)                                                                   \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);         \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

#endif
