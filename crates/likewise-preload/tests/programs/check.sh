#!/usr/bin/env bash
# Builds the programs of this folder with every MPI that is here, into the
# folder that is named, and runs each without any recorder.
#
# Usage: check.sh FOLDER
set -euo pipefail
into=${1:?usage: check.sh FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$into"
export COUNTS_DIR=$into/out OMPI_MCA_mpi_yield_when_idle=1
mkdir -p "$COUNTS_DIR"

run() { # mpi, ranks, exit code, command…
    local mpi=$1 ranks=$2 expected=$3 code=0
    shift 3
    local options=(-n "$ranks")
    [ "$mpi" = openmpi ] && options+=(--allow-run-as-root --oversubscribe)
    timeout 60 "mpirun.$mpi" "${options[@]}" "$@" >"$into/output" 2>&1 || code=$?
    if [ "$code" != "$expected" ]; then
        echo "$mpi, $ranks ranks, $*: exit code $code instead of $expected" >&2
        tail -20 "$into/output" >&2
        return 1
    fi
    echo "ok $mpi $ranks $(basename "$1") ${*:2}"
}

for mpi in openmpi mpich; do
    if ! command -v "mpicc.$mpi" >/dev/null; then
        echo "no mpicc.$mpi: left out"
        continue
    fi
    at=$into/$mpi
    mkdir -p "$at"
    for source in "$here"/counts_c.c "$here"/log_c.c "$here"/k_*.c; do
        name=$(basename "$source" .c)
        "mpicc.$mpi" -g -O2 -Wall -Wextra -Werror -pthread -o "$at/$name" "$source" -lm -ldl
    done
    "mpicc.$mpi" -g -O2 -Wall -Wextra -Werror -shared -fPIC -o "$at/libplugin.so" "$here/plugin.c"
    for ranks in 1 2 4; do
        run "$mpi" $ranks 0 "$at/counts_c"
        run "$mpi" $ranks 0 "$at/log_c"
        run "$mpi" $ranks 0 "$at/k_stencil" 50 64
        run "$mpi" $ranks 0 "$at/k_two_phases" 20 10000
    done
    run "$mpi" 3 0 "$at/counts_c" 2
    run "$mpi" 3 0 "$at/k_master" 200 1000
    run "$mpi" 1 0 "$at/k_allreduce" 100000
    run "$mpi" 1 0 "$at/k_aperiodic" 10000
    run "$mpi" 2 0 "$at/k_threads" 20
    # Debian's MPICH 4.0 starts no processes: "Error in spawn call".
    [ "$mpi" = mpich ] || run "$mpi" 1 0 "$at/k_spawn" 2
    run "$mpi" 2 7 "$at/k_abort"
    run "$mpi" 2 5 "$at/k_exit"
    run "$mpi" 2 0 "$at/k_dlopen" "$at/libplugin.so"
    if command -v "mpif90.$mpi" >/dev/null; then
        for name in counts_mpifh counts_usempi counts_f08; do
            # Only the calls of mpi_f08 have interfaces under every MPI; of
            # calls without, the compiler warns.
            flags=(-std=legacy -w)
            [ "$name" = counts_f08 ] && flags=(-Wall -Wextra -Werror)
            (cd "$at" && "mpif90.$mpi" -g -O2 "${flags[@]}" -I"$here" -o "$name" "$here/$name.f90")
            run "$mpi" 1 0 "$at/$name"
            run "$mpi" 3 0 "$at/$name"
        done
    fi
done
if /usr/bin/python3 -c 'import mpi4py' 2>/dev/null; then
    run openmpi 3 0 /usr/bin/python3 "$here/counts_mpi4py.py"
fi
