"""The programs that are recorded, their inputs, and what peers need for them.

Their executables are looked for in one folder, by name, and on the PATH. None
is built or fetched here: who wants a program builds it as its authors say.
Inputs are our own.
"""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

MELT = """\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 50
run {steps}
"""

SNAP = """\
&invar
  npey=2 npez=2 ichunk=2 nthreads=1 nnested=1
  ndimen=3 nx=8 lx=0.8 ny=8 ly=0.8 nz=8 lz=0.8
  nmom=2 nang=12 ng=6 epsi=1.0E-4 iitm=5 oitm=30
  timedep=1 tf=1.0 nsteps=4
  mat_opt=1 src_opt=1 scatp=0 it_det=0 fluxp=0 fixup=1 soloutp=0
  kplane=0 popout=0 swp_typ=0 angcpy=1 multiswp=0
/
"""

CLOVER = """\
*clover
 state 1 density=0.2 energy=1.0
 state 2 density=1.0 energy=2.5 geometry=rectangle xmin=0.0 xmax=5.0 ymin=0.0 ymax=2.0
 x_cells=240
 y_cells=240
 xmin=0.0
 ymin=0.0
 xmax=10.0
 ymax=10.0
 initial_timestep=0.04
 timestep_rise=1.5
 max_timestep=0.04
 end_step=100
*endclover
"""

# The 13 lines of HPL, and the problem sizes of the other parts.
HPCC = """\
HPLinpack benchmark input file
own input
HPL.out output file name (if any)
8 device out (6=stdout,7=stderr,file)
1 # of problems sizes (N)
400 Ns
1 # of NBs
40 NBs
0 PMAP process mapping (0=Row-,1=Column-major)
1 # of process grids (P x Q)
2 Ps
2 Qs
16.0 threshold
1 # of panel fact
2 PFACTs (0=left, 1=Crout, 2=Right)
1 # of recursive stopping criterium
4 NBMINs (>= 1)
1 # of panels in recursion
2 NDIVs
1 # of recursive panel fact.
1 RFACTs (0=left, 1=Crout, 2=Right)
1 # of broadcast
1 BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1 # of lookahead depth
1 DEPTHs (>=0)
2 SWAP (0=bin-exch,1=long,2=mix)
64 swapping threshold
0 L1 in (0=transposed,1=no-transposed) form
0 U in (0=transposed,1=no-transposed) form
1 Equilibration (0=no,1=yes)
8 memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0 Number of additional problem sizes for PTRANS
1200 10000 30000 values of N
0 number of additional blocking sizes for PTRANS
40 9 8 13 13 20 16 32 64 values of NB
"""


@dataclass(frozen=True)
class Program:
    """A program and one run of it."""

    name: str
    executable: str
    arguments: tuple = ()
    ranks: tuple = (4,)
    inputs: dict = field(default_factory=dict)
    # Bytes of the other tools' traces, by ranks, from the project's reference.
    pilgrim: dict = field(default_factory=dict)
    scalatrace: dict = field(default_factory=dict)
    # The only MPI that the distribution's build starts with, if there is one.
    only_mpi: str = ""

    def find(self, folder):
        """The executable, or None."""
        if folder and (Path(folder) / self.executable).is_file():
            return str((Path(folder) / self.executable).resolve())
        return shutil.which(self.executable)


PEERS = {
    # name: (ScalaTrace at 4 and 16 ranks, Pilgrim at 4 and 16 ranks)
    "LU.S": ((115873, 165392), (3700, 7028)),
    "LU.W": ((125563, 177126), (5452, 8406)),
    "CG.S": ((33697, 44460), (2342, 4772)),
    "MG.S": ((207035, 233078), (7748, 12900)),
    "BT.S": ((57994, 80729), (9074, 58290)),
    "SP.S": ((50791, 64886), (7328, 19302)),
    "FT.S": ((8132, 8999), (834, 882)),
}


def npb():
    for code in ("BT", "LU", "SP", "CG", "MG", "FT", "IS", "EP"):
        for size in ("S", "W"):
            name = f"{code}.{size}"
            peers = PEERS.get(name, ((), ()))
            yield Program(
                name,
                f"{code.lower()}.{size}.x",
                ranks=(4, 16),
                scalatrace=dict(zip((4, 16), peers[0])),
                pilgrim=dict(zip((4, 16), peers[1])),
            )


PROGRAMS = [
    *npb(),
    Program("LAMMPS", "lmp", ("-in", "in.melt", "-log", "none"), inputs={"in.melt": MELT.format(steps=500)}, only_mpi="openmpi"),
    Program("hpcc", "hpcc", inputs={"hpccinf.txt": HPCC}, only_mpi="openmpi"),
    Program("LULESH", "lulesh2.0", ("-s", "10", "-i", "100"), ranks=(8,)),
    Program("AMG", "amg", ("-problem", "1", "-n", "16", "16", "16", "-P", "2", "2", "1")),
    Program("CoMD", "CoMD-mpi", ("-x", "12", "-y", "12", "-z", "12", "-i", "2", "-j", "2", "-k", "1", "-N", "50")),
    Program("SNAP", "gsnap", ("snap.in", "snap.out"), inputs={"snap.in": SNAP}),
    Program("miniFE", "miniFE.x", ("nx=40", "ny=40", "nz=40")),
    Program("CloverLeaf", "clover_leaf", inputs={"clover.in": CLOVER}),
]

# Our own, built from crates/likewise-preload/tests/programs by its check.sh.
OWN = [
    Program("k_stencil", "k_stencil", ("200", "128")),
    Program("k_stencil, uneven", "k_stencil", ("200", "128", "3")),
    Program("k_master", "k_master", ("500", "5000")),
    Program("k_two_phases", "k_two_phases", ("200", "50000")),
]
