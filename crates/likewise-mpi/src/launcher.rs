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
}

impl Launcher {
    /// The launcher of this process; `None` if the process was started alone.
    pub fn of_this_process() -> Option<Self> {
        Self::find(|name| std::env::var(name).ok())
    }

    fn find(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| variable(name)?.trim().parse().ok();
        let found = |name, mpi, n_ranks, rank| Some(Self { name, mpi, n_ranks, rank: number(rank) });
        if let Some(n_ranks) = number("OMPI_COMM_WORLD_SIZE") {
            return found("Open MPI's mpirun", Some(Mpi::OpenMpi), Some(n_ranks), "OMPI_COMM_WORLD_RANK");
        }
        // Before the other two: Slurm sets PMI_* as well, and PMIX_* for any
        // MPI that wants them.
        if variable("SLURM_STEP_ID").is_some()
            && ["PMI_RANK", "PMIX_RANK", "PMI_FD"].iter().any(|name| variable(name).is_some())
        {
            return found("Slurm's srun", None, number("SLURM_STEP_NUM_TASKS"), "SLURM_PROCID");
        }
        if variable("PMI_RANK").is_some() || variable("MPI_LOCALNRANKS").is_some() {
            return found("MPICH's mpirun", Some(Mpi::Mpich), number("PMI_SIZE"), "PMI_RANK");
        }
        variable("PMIX_RANK").and_then(|_| found("a PMIx launcher", None, None, "PMIX_RANK"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &str)]) -> Option<Launcher> {
        Launcher::find(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, v)| (*v).into()))
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
