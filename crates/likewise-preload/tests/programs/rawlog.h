/* What rawlog.c and rawlog_names.c share. */
#ifndef RAWLOG_H
#define RAWLOG_H

#include <stdio.h>

/* How many calls of MPI are under way: those that MPI makes are not logged. */
extern int rawlog_depth;

/* The function of that name behind this library. */
void *rawlog_next(const char *name);

/* Logs a call by its name alone. */
void rawlog_row(const char *call);

/* Writes the log of this rank, MPI_Finalize included. */
void rawlog_write(void);

/* Writes the names of all calls that are logged. */
void rawlog_names(FILE *out);

#endif
