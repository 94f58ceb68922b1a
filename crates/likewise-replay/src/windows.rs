//! Windows and what works on them.

use crate::ReplayError;
use crate::class::Reason;
use crate::fields::Fields;
use crate::handles::Window;
use crate::player::Player;
use crate::words::Instead;
use likewise_recording::calls::number;
use likewise_recording::role::Role;

/// `MPI_LOCK_SHARED` of Open MPI, of MPICH, and of the standard's interface.
const SHARED: [i64; 3] = [2, 235, 302];

impl Player<'_> {
    /// Re-issues a call that makes a window or works on one; returns why not,
    /// if it does not.
    pub(crate) fn window(&mut self, fields: Fields) -> Result<Option<Reason>, ReplayError> {
        let number = fields.argument(Role::Win).map(|at| fields.of(at));
        let is_dynamic = number
            .and_then(|number| self.world.handles.windows.get(number))
            .is_some_and(|window| window.is_dynamic);
        if is_dynamic && fields.has(Role::Target) && fields.has(Role::Type) {
            return Ok(Some(Reason::DynamicWindow));
        }
        match fields.call {
            number::Win_create => self.create(fields)?,
            number::Win_allocate | number::Win_allocate_shared | number::Win_create_dynamic => {
                self.allocate(fields)?
            }
            number::Win_shared_query => return Ok(Some(Reason::Local)),
            number::Win_test => {
                let made = self.world.words(fields, Instead::default())?;
                self.mpi.call(number::Win_wait, &made.words[..1])?;
            }
            number::Win_lock => {
                self.issue(fields, fields.call, Instead { heard: None, words: &self.lock(fields) })?
            }
            call => {
                // Promises of the program differ between MPIs, and none need be made.
                let promises: Vec<_> = match fields.has(Role::Type) {
                    true => Vec::new(),
                    false => {
                        let roles = fields.roles().iter().enumerate();
                        roles.filter(|(_, role)| **role == Role::Int).map(|(at, _)| (at, 0)).collect()
                    }
                };
                self.issue(fields, call, Instead { heard: None, words: &promises })?;
            }
        }
        Ok(None)
    }

    /// Kinds of locks have other numbers in the other MPI.
    fn lock(&self, fields: Fields) -> [(usize, usize); 2] {
        let constants = &self.mpi.constants;
        let is_shared = SHARED.contains(&fields.of(0));
        let kind = if is_shared { constants.lock_shared } else { constants.lock_exclusive };
        [(0, kind as usize), (2, 0)]
    }

    fn create(&mut self, fields: Fields) -> Result<(), ReplayError> {
        let bytes = usize::try_from(fields.of(1)).unwrap_or(0);
        let mut memory = vec![0_u8; bytes];
        let made =
            self.world.words(fields, Instead { heard: None, words: &[(0, memory.as_mut_ptr() as usize)] })?;
        self.mpi.call(fields.call, &made.words)?;
        self.put_window(fields, &made.kept.places, memory);
        Ok(())
    }

    /// MPI gives the memory, if there is any.
    fn allocate(&mut self, fields: Fields) -> Result<(), ReplayError> {
        let mut memory = 0_usize;
        let place = (&raw mut memory) as usize;
        let skipped = fields.argument(Role::Skip).map(|at| (at, place));
        let instead = Instead { heard: None, words: skipped.as_slice() };
        let made = self.world.words(fields, instead)?;
        self.mpi.call(fields.call, &made.words)?;
        self.put_window(fields, &made.kept.places, Vec::new());
        Ok(())
    }

    fn put_window(&mut self, fields: Fields, places: &[usize], memory: Vec<u8>) {
        let Some(at) = fields.argument(Role::NewWin) else { return };
        let (rank, size) = self.world.comm(fields).map_or((0, 1), |comm| (comm.rank, comm.size));
        let is_dynamic = fields.call == number::Win_create_dynamic;
        let window = Window { handle: places[at], rank, size, is_dynamic, _memory: memory };
        self.world.handles.windows.put(fields.of(at), window);
    }
}
