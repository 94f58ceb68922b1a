//! Calls that start requests and that complete them: each completes the
//! requests that it completed in the recording.

use crate::ReplayError;
use crate::class::Reason;
use crate::fields::Fields;
use crate::handles::Kept;
use crate::lookahead::completed;
use crate::player::Player;
use crate::words::Instead;
use likewise_recording::calls::number;
use likewise_recording::role::Kind;

impl Player<'_> {
    pub(crate) fn handle(&self, request: i64) -> usize {
        self.world.handles.requests.get(request).map_or(self.mpi.constants.request_null, |r| r.handle)
    }

    /// After MPI has changed the handle of a request.
    fn changed(&mut self, request: i64, handle: usize) {
        let null = self.mpi.constants.request_null;
        let Some(known) = self.world.handles.requests.get_mut(request) else { return };
        known.handle = handle;
        if handle == null && !known.persistent {
            self.world.handles.requests.take(request);
        }
    }

    /// Re-issues a call of the families of `MPI_Wait` and `MPI_Test`; returns
    /// why not, if it does not.
    pub(crate) fn complete(&mut self, fields: Fields) -> Result<Option<Reason>, ReplayError> {
        if fields.call == number::Request_get_status {
            return self.look(&[fields.of(0)], fields.get(Kind::Flag) == Some(1)).map(|()| None);
        }
        let done = completed(fields);
        match done.as_slice() {
            [] => {
                // It found nothing: it may look, but must not find.
                let requests = match fields.get(Kind::Request) {
                    Some(request) => vec![request],
                    None => fields.list(Kind::Requests).to_vec(),
                };
                self.look(&requests, false)?;
            }
            [request] => self.wait(*request)?,
            all => self.wait_all(all)?,
        }
        Ok(None)
    }

    fn wait(&mut self, request: i64) -> Result<(), ReplayError> {
        let mut handle = self.handle(request);
        self.mpi.call(number::Wait, &[(&raw mut handle) as usize, self.mpi.constants.status_ignore])?;
        self.changed(request, handle);
        Ok(())
    }

    fn wait_all(&mut self, requests: &[i64]) -> Result<(), ReplayError> {
        let handles: Vec<usize> = requests.iter().map(|request| self.handle(*request)).collect();
        let mut array = self.mpi.array(&handles);
        let words = [requests.len(), array.as_mut_ptr() as usize, self.mpi.constants.status_ignore];
        self.mpi.call(number::Waitall, &words)?;
        let after = self.mpi.handles(&array);
        requests.iter().zip(after).for_each(|(request, handle)| self.changed(*request, handle));
        Ok(())
    }

    /// Lets MPI carry on, and asks after the first of these requests that is
    /// there, which stays; until it is done if it is to be done.
    fn look(&mut self, requests: &[i64], until_done: bool) -> Result<(), ReplayError> {
        let (null, ignore) = (self.mpi.constants.request_null, self.mpi.constants.status_ignore);
        let Some(handle) =
            requests.iter().map(|request| self.handle(*request)).find(|handle| *handle != null)
        else {
            return Ok(());
        };
        loop {
            let mut done = 0_i32;
            self.mpi.call(number::Request_get_status, &[handle, (&raw mut done) as usize, ignore])?;
            if done != 0 || !until_done {
                return Ok(());
            }
        }
    }

    /// Re-issues `MPI_Start` and `MPI_Startall`, but for requests that are left
    /// out, and those that are null here.
    pub(crate) fn start(&mut self, fields: Fields, left_out: &[i64]) -> Result<(), ReplayError> {
        let one = [fields.of(0)];
        let requests = if fields.call == number::Start { &one } else { fields.list(Kind::Requests) };
        let of_any = |player: &Self, request: i64| {
            player.world.handles.requests.get(request).and_then(|known| known.receives_any.clone())
        };
        let mut started = Vec::new();
        let null = self.mpi.constants.request_null;
        for request in requests {
            let is_left_out = left_out.contains(request);
            match of_any(self, *request) {
                Some(_) if is_left_out => drop(self.next_heard()),
                Some((call, values)) => self.begin_receive(*request, Fields::new(call, &values))?,
                None if is_left_out || self.handle(*request) == null => {}
                None => started.push(*request),
            }
        }
        let handles: Vec<usize> = started.iter().map(|request| self.handle(*request)).collect();
        let mut array = self.mpi.array(&handles);
        match started.as_slice() {
            [] => Ok(()),
            [_] => self.mpi.call(number::Start, &[array.as_mut_ptr() as usize]),
            all => self.mpi.call(number::Startall, &[all.len(), array.as_mut_ptr() as usize]),
        }
    }

    /// A start of a persistent receive of a wildcard.
    fn begin_receive(&mut self, request: i64, fields: Fields) -> Result<(), ReplayError> {
        let heard = Some((self.next_heard(), true));
        let kept = fields.values().to_vec();
        self.issue(fields, fields.call, Instead { heard, words: &[] })?;
        let handle = self.handle(request);
        self.put_request(request, handle, true, Kept::default());
        if let Some(known) = self.world.handles.requests.get_mut(request) {
            known.receives_any = Some((fields.call, kept));
        }
        Ok(())
    }
}
