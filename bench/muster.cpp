// Times muster's CAPEK over MPI on the objects of
// crates/likewise-mpi/examples/capek.rs: mpirun -n P muster 2d|64
// OBJECTS_PER_RANK K fixed|bic RUNS. bench/README.md says how to build it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <mpi.h>

#include "par_kmedoids.h"

namespace {

uint64_t mix(uint64_t z) {
    z += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

double unit(uint64_t object, uint64_t coordinate) {
    return (mix(mix(1) + object * 64 + coordinate) >> 11) / 9007199254740992.0;
}

double shape(int kind, int c) {
    switch (kind) {
    case 0: return 10 * std::sin(c / 5.0);
    case 1: return std::sin(c / 5.0);
    case 2: return 10 * std::sin(c / 5.0) * std::sin(c / 5.0) * std::cos(c);
    case 3: return 2.0 * c;
    case 4: return 20 * std::cos(10.0 * c) * std::sin(c / 2.0);
    default: return 8;
    }
}

template <int N> struct Trace {
    double values[N];

    int packed_size(MPI_Comm comm) const {
        int size;
        MPI_Pack_size(N, MPI_DOUBLE, comm, &size);
        return size;
    }

    void pack(void *buffer, int size, int *position, MPI_Comm comm) const {
        MPI_Pack(values, N, MPI_DOUBLE, buffer, size, position, comm);
    }

    static Trace unpack(void *buffer, int size, int *position, MPI_Comm comm) {
        Trace trace;
        MPI_Unpack(buffer, size, position, trace.values, N, MPI_DOUBLE, comm);
        return trace;
    }
};

template <int N> struct Euclidean {
    double operator()(const Trace<N> &a, const Trace<N> &b) const {
        double sum = 0;
        for (int i = 0; i < N; i++) {
            double difference = a.values[i] - b.values[i];
            sum += difference * difference;
        }
        return std::sqrt(sum);
    }
};

template <int N> void run(size_t per_rank, size_t k, bool by_bic, int runs) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<Trace<N>> objects(per_rank);
    for (size_t at = 0; at < per_rank; at++) {
        uint64_t i = rank * per_rank + at;
        for (int c = 0; c < N; c++)
            objects[at].values[c] = N == 2 ? unit(i, c) * 5000 - 2500 : shape(i % 6, c) + unit(i, c);
    }
    std::vector<double> times;
    double loss_mean = 0, k_mean = 0;
    for (int seed = 1; seed <= runs; seed++) {
        cluster::par_kmedoids clusters;
        clusters.set_seed(seed);
        std::vector<Trace<N>> medoids;
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        if (by_bic)
            clusters.xcapek(objects, Euclidean<N>(), k, N, &medoids);
        else
            clusters.capek(objects, Euclidean<N>(), k, &medoids);
        double own = MPI_Wtime() - start, slowest, part = 0, loss;
        MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        times.push_back(slowest * 1e3);
        for (size_t at = 0; at < per_rank; at++)
            part += Euclidean<N>()(objects[at], medoids[clusters.cluster_ids[at]]);
        MPI_Allreduce(&part, &loss, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        loss_mean += loss / runs;
        k_mean += double(medoids.size()) / runs;
    }
    if (rank == 0) {
        std::sort(times.begin(), times.end());
        std::printf("{\"ms_median\": %.3f, \"ms_min\": %.3f, \"loss_mean\": %.6f, \"k_mean\": %.1f}\n",
                    times[times.size() / 2], times[0], loss_mean, k_mean);
    }
}

} // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 6) {
        std::fprintf(stderr, "muster 2d|64 OBJECTS_PER_RANK K fixed|bic RUNS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    size_t per_rank = std::atol(argv[2]), k = std::atol(argv[3]);
    bool by_bic = std::string(argv[4]) == "bic";
    if (std::string(argv[1]) == "2d")
        run<2>(per_rank, k, by_bic, std::atoi(argv[5]));
    else
        run<64>(per_rank, k, by_bic, std::atoi(argv[5]));
    MPI_Finalize();
}
