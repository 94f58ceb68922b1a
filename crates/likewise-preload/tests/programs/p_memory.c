/* Calls without any period while the system has no memory to give. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static char buffer[1 << 16];

static unsigned long virtual_size(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");
	if (file == NULL || fscanf(file, "%lu", &pages) != 1)
		exit(3);
	fclose(file);
	return pages * 4096;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	struct rlimit before, limit;
	unsigned long sum = 0, random = 1;
	/* What MPI itself allocates, it does the first time. */
	MPI_Bcast(buffer, sizeof buffer, MPI_BYTE, 0, MPI_COMM_SELF);
	getrlimit(RLIMIT_AS, &before);
	limit = before;
	limit.rlim_cur = virtual_size() + (1 << 18);
	setrlimit(RLIMIT_AS, &limit);
	for (int i = 0; i < 1000000; i++) {
		random = random * 6364136223846793005ul + 1442695040888963407ul;
		int count = random >> 48;
		MPI_Bcast(buffer, count, MPI_BYTE, 0, MPI_COMM_SELF);
		sum += count;
	}
	setrlimit(RLIMIT_AS, &before);
	printf("sum %lu\n", sum);
	MPI_Finalize();
	return 7;
}
