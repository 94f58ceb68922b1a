"""Calls MPI by mpi4py and counts the calls by name; see counting.h.

mpi4py makes calls of its own (MPI_Init_thread, attributes, questions about
sizes), so only calls that it makes for us alone are in the list.
"""

import array
import collections
import os

from mpi4py import MPI

counts = collections.Counter()


def counted(name, call, *arguments, **named):
    counts[f"MPI_{name}"] += 1
    return call(*arguments, **named)


world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
left, right = (rank - 1) % size, (rank + 1) % size


def numbers(value, count=4):
    return array.array("d", [value] * count)


for step in range(10):
    got, sent = numbers(-1), numbers(rank)
    source = MPI.ANY_SOURCE if step % 2 else left
    receive = counted("Irecv", world.Irecv, [got, MPI.DOUBLE], source=source, tag=3)
    send = counted("Isend", world.Isend, [sent, MPI.DOUBLE], dest=right, tag=3)
    counted("Waitall", MPI.Request.Waitall, [receive, send])
    assert got[0] == left
    counted("Barrier", world.Barrier)

receive = counted("Irecv", world.Irecv, [got, MPI.DOUBLE], source=left, tag=4)
counted("Send", world.Send, [numbers(rank), MPI.DOUBLE], dest=right, tag=4)
while not counted("Test", receive.Test):
    pass
for _ in range(5):
    total = numbers(0)
    counted("Allreduce", world.Allreduce, [numbers(rank), MPI.DOUBLE], [total, MPI.DOUBLE], op=MPI.SUM)
    assert total[0] == size * (size - 1) / 2
    counted("Bcast", world.Bcast, [total, MPI.DOUBLE], root=0)
    counted("Scan", world.Scan, [numbers(rank), MPI.DOUBLE], [total, MPI.DOUBLE])
half = counted("Comm_split", world.Split, rank % 2, -rank)
counted("Allreduce", half.Allreduce, [numbers(rank), MPI.DOUBLE], [total, MPI.DOUBLE])
counted("Comm_free", half.Free)
column = counted("Type_vector", MPI.DOUBLE.Create_vector, 2, 1, 2)
counted("Type_commit", column.Commit)
counted("Type_free", column.Free)
ring = counted("Cart_create", world.Create_cart, [size], periods=[True])
counted("Cart_shift", ring.Shift, 0, 1)
counted("Comm_free", ring.Free)

with open(os.path.join(os.environ.get("COUNTS_DIR", "."), f"counts-{rank}.txt"), "w") as out:
    for name, count in counts.items():
        out.write(f"{name} {count}\n")
