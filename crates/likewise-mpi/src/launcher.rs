//! Who launched this process, by its environment.

use crate::binding::Mpi;

/// A launcher of MPI programs, and what it says of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The name that errors use.
    pub name: &'static str,
    /// The MPI that it goes with; `None` for a batch system, which goes with either.
    pub mpi: Option<Mpi>,
    /// How many ranks it launched, if it says so.
    pub n_ranks: Option<usize>,
    /// The number of this rank, if it says so.
    pub rank: Option<usize>,
    /// How many ranks it launched on this computer, if it says so.
    pub beside: Option<usize>,
}

impl Launcher {
    /// The launcher of this process; `None` if the process was started alone.
    pub fn of_this_process() -> Option<Self> {
        Self::find(|name| std::env::var(name).ok())
    }

    fn find(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| variable(name)?.trim().parse().ok();
        let found =
            |name, mpi, n_ranks, rank, beside| Some(Self { name, mpi, n_ranks, rank: number(rank), beside });
        if let Some(n_ranks) = number("OMPI_COMM_WORLD_SIZE") {
            let (rank, beside) = ("OMPI_COMM_WORLD_RANK", number("OMPI_COMM_WORLD_LOCAL_SIZE"));
            return found("Open MPI's mpirun", Some(Mpi::OpenMpi), Some(n_ranks), rank, beside);
        }
        // Before the other two: Slurm sets PMI_* as well, and PMIX_* for any
        // MPI that wants them.
        if variable("SLURM_STEP_ID").is_some()
            && ["PMI_RANK", "PMIX_RANK", "PMI_FD"].iter().any(|name| variable(name).is_some())
        {
            let node = number("SLURM_NODEID");
            let beside = variable("SLURM_STEP_TASKS_PER_NODE").zip(node);
            let beside = beside.and_then(|(tasks, node)| tasks_of_node(&tasks, node));
            return found("Slurm's srun", None, number("SLURM_STEP_NUM_TASKS"), "SLURM_PROCID", beside);
        }
        if variable("PMI_RANK").is_some() || variable("MPI_LOCALNRANKS").is_some() {
            let beside = number("MPI_LOCALNRANKS");
            return found("MPICH's mpirun", Some(Mpi::Mpich), number("PMI_SIZE"), "PMI_RANK", beside);
        }
        variable("PMIX_RANK").and_then(|_| found("a PMIx launcher", None, None, "PMIX_RANK", None))
    }

    /// How many threads each rank should run: all cores that it may use, unless
    /// it must share them with the ranks beside it.
    #[must_use]
    pub fn threads(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.threads_of(cores, cores_of_all())
    }

    fn threads_of(&self, cores: usize, of_all: usize) -> usize {
        cores.min(of_all / self.beside.unwrap_or(1).max(1)).max(1)
    }
}

/// The cores of this computer, whether or not this process may use them.
fn cores_of_all() -> usize {
    // SAFETY: it takes a number, and only reads.
    let cores = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    usize::try_from(cores).unwrap_or(1)
}

/// The tasks of a node in Slurm's list, such as `2(x3),1`: two on each of three
/// nodes, then one.
fn tasks_of_node(list: &str, node: usize) -> Option<usize> {
    let mut before = 0;
    for item in list.split(',') {
        let (tasks, times) = match item.split_once("(x") {
            Some((tasks, times)) => (tasks, times.strip_suffix(')')?.parse().ok()?),
            None => (item, 1),
        };
        before += times;
        if node < before {
            return tasks.trim().parse().ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &str)]) -> Option<Launcher> {
        Launcher::find(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, v)| (*v).into()))
    }

    #[test]
    fn ranks_share_the_cores_of_a_computer() {
        let of = |beside: &str| find(&[("PMI_RANK", "0"), ("PMI_SIZE", "9"), ("MPI_LOCALNRANKS", beside)]);
        let threads = |beside, cores, of_all| of(beside).unwrap().threads_of(cores, of_all);
        assert_eq!(threads("4", 64, 64), 16, "not bound");
        assert_eq!(threads("4", 1, 64), 1, "bound to a core each");
        assert_eq!(threads("4", 32, 64), 16, "two on each half");
        assert_eq!(threads("9", 2, 2), 1, "more than cores");
        assert_eq!(find(&[("PMIX_RANK", "0")]).unwrap().threads_of(8, 64), 8, "nobody knows");
        assert_eq!(
            ["2(x3),1"; 5].iter().zip(0..).map(|(l, n)| tasks_of_node(l, n)).collect::<Vec<_>>(),
            [Some(2), Some(2), Some(2), Some(1), None]
        );
        assert_eq!((tasks_of_node("x", 0), tasks_of_node("2(x", 0)), (None, None));
    }

    #[test]
    fn launchers_are_known_by_their_variables() {
        assert_eq!(find(&[]), None);
        assert_eq!(find(&[("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "8")]), None);
        assert_eq!(
            find(&[("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "3")]).unwrap().rank,
            Some(3)
        );
        let mpi = |variables| find(variables).map(|launcher| (launcher.mpi, launcher.n_ranks));
        let open = [("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "1")];
        assert_eq!(mpi(&open), Some((Some(Mpi::OpenMpi), Some(4))));
        let hydra = [("PMI_RANK", "1"), ("PMI_SIZE", "3"), ("MPI_LOCALNRANKS", "3")];
        assert_eq!(mpi(&hydra), Some((Some(Mpi::Mpich), Some(3))));
        let slurm = [("PMIX_RANK", "1"), ("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "8")];
        assert_eq!(mpi(&slurm), Some((None, Some(8))));
    }
}
