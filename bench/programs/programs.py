"""The programs that are recorded, their inputs, and what peers need for them.

Their executables are looked for in one folder, by name, and on the PATH. None
is built or fetched here: who wants a program builds it as its authors say.
Inputs are our own.

    python3 programs.py INPUTS [FOLDER]

writes a folder of inputs for each program, and prints a line for each run: name,
ranks, and the command if the executable was found, with tabs between them. The
tests of the recorder run these.
"""

import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

# Inputs that the tests use too.
TESTS = Path(__file__).resolve().parents[2] / "crates/likewise-preload/tests/programs"
MELT = (TESTS / "in.melt").read_text()
HPCC = (TESTS / "hpccinf.txt").read_text()

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
    Program(
        "LAMMPS",
        "lmp",
        ("-in", "in.melt", "-log", "none", "-var", "steps", "500"),
        inputs={"in.melt": MELT},
        only_mpi="openmpi",
    ),
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
    Program("l_phases, one", "l_phases", ("one", "200", "300000")),
    Program("l_phases, master", "l_phases", ("master", "200", "300000")),
]


def main():
    inputs, folder = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    for program in PROGRAMS:
        (inputs / program.name).mkdir(parents=True)
        for name, text in program.inputs.items():
            (inputs / program.name / name).write_text(text)
        executable = program.find(folder)
        command = [executable, *program.arguments] if executable else []
        for ranks in program.ranks:
            print(program.name, ranks, *command, sep="\t")


if __name__ == "__main__":
    main()
