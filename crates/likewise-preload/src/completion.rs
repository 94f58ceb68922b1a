//! What is read before a call, and which requests it completed.

use crate::arguments::Arguments;
use crate::decode::{Before, Call, Decoder};
use crate::objects::Objects;
use crate::plan::Plan;
use crate::real::MOST_WORDS;
use likewise_mpi::abi::Class;
use likewise_recording::calls::number;
use likewise_recording::role::{NONE, Role};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether there has been a nonblocking receive from any source or of any tag.
static WILDCARDS: AtomicBool = AtomicBool::new(false);

/// A nonblocking receive from any source, or of any tag, was made: whoever
/// completes requests from now on must have statuses.
pub(crate) fn wildcards_exist() {
    WILDCARDS.store(true, Ordering::Relaxed);
}

/// The class of what a role frees.
fn freed(role: Role) -> Option<Class> {
    Some(match role {
        Role::FreeComm => Class::Comm,
        Role::FreeType => Class::Type,
        Role::FreeGroup => Class::Group,
        Role::FreeOp => Class::Op,
        Role::FreeWin => Class::Win,
        Role::FreeFile => Class::File,
        Role::FreeInfo => Class::Info,
        Role::FreeErrhandler => Class::Errhandler,
        Role::FreeMessage => Class::Message,
        _ => return None,
    })
}

/// Reads what the call will overwrite.
pub(crate) fn read_before(objects: &mut Objects, arguments: &Arguments<'_>, before: &mut Before) {
    before.handles.clear();
    before.retired = None;
    for (at, role) in arguments.call.roles().iter().enumerate() {
        let word = arguments.word(at);
        match role {
            Role::Request | Role::FreeRequest | Role::Start => {
                before.handles.push(arguments.handle(objects, Class::Request, at));
            }
            Role::Requests | Role::Starts => {
                let n = if word == 0 { 0 } else { arguments.length(0) };
                let handle = |index| arguments.handle_at(objects, Class::Request, word, index);
                before.handles.extend((0..n).map(handle));
            }
            role => {
                if let Some(class) = freed(*role) {
                    let handle = arguments.handle_at(objects, class, word, 0);
                    before.retired = objects.retire(class, handle);
                }
            }
        }
    }
}

/// Where the program wants no status but the recording needs it, gives the call
/// room for one (or for several) of our own.
pub(crate) fn own_status(
    objects: &Objects,
    arguments: &Arguments<'_>,
    plan: &Plan,
    room: &mut Vec<u64>,
) -> Option<(usize, usize)> {
    let at = plan.status?;
    let needed = match plan.source {
        Some(source) => {
            let is_any = |at: usize, any: i32| arguments.int(at) == any;
            is_any(source, objects.abi.any_source)
                || plan.tag.is_some_and(|tag| is_any(tag, objects.abi.any_tag))
        }
        None => plan.completes && WILDCARDS.load(Ordering::Relaxed),
    };
    if !needed || !arguments.ignores(objects, at, plan.several) {
        return None;
    }
    let n = if plan.several { arguments.length(0) } else { 1 };
    room.clear();
    room.resize((n * objects.abi.status.size).div_ceil(8) + 1, 0);
    let place = crate::arguments::place(arguments.call, arguments.dialect, at)?;
    debug_assert!(place < MOST_WORDS, "the table has no call of that many arguments");
    Some((place, room.as_mut_ptr() as usize))
}

impl Decoder<'_> {
    /// Finds the numbers of the requests that the call was given.
    pub(crate) fn name_requests(&mut self, call: &Call<'_>) {
        let requests = &mut self.objects.requests;
        requests.begin();
        self.named.extend(call.before.handles.iter().map(|handle| requests.name(*handle)));
    }

    /// Ends the requests that the call has completed, and lists what those of
    /// them heard that could hear several.
    pub(crate) fn complete(&mut self, call: &Call<'_>) {
        let named = std::mem::take(&mut self.named);
        let Some((at, role)) = requests_of(call) else { return };
        match role {
            Role::Start | Role::Starts if call.ok => {
                named.iter().flatten().for_each(|number| self.objects.requests.slot(*number).active = true);
            }
            Role::FreeRequest if call.ok => {
                named.iter().flatten().for_each(|number| self.objects.requests.remove(*number));
            }
            Role::Request | Role::Requests => {
                let done = self.done(call, at, role == Role::Requests, &named);
                self.statuses(call, &done);
                if call.arguments.call != number::Request_get_status {
                    done.iter().for_each(|(_, number)| self.end(*number));
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, number: u32) {
        let slot = self.objects.requests.slot(number);
        if slot.persistent {
            slot.active = false;
        } else {
            self.objects.requests.remove(number);
        }
    }

    /// The requests that are done: which status is theirs, and their numbers.
    fn done(
        &mut self,
        call: &Call<'_>,
        at: usize,
        is_list: bool,
        named: &[Option<u32>],
    ) -> Vec<(usize, u32)> {
        let (arguments, plan) = (&call.arguments, call.plan);
        let flag = plan.flag.is_none_or(|flag| Arguments::int_at(arguments.word(flag), 0) != 0);
        let only_asks = plan.status.is_none() || arguments.call == number::Request_get_status;
        if only_asks {
            let reported = plan.status.is_some() && call.ok && flag;
            return named.iter().flatten().filter(|_| reported).map(|number| (0, *number)).collect();
        }
        let index = plan
            .index
            .map(|index| Arguments::int_at(arguments.word(index), 0) - i32::from(arguments.is_fortran()));
        let word = arguments.word(at);
        // MPI overwrites the handle of what is done by null, also where it
        // reports an error; but not that of a persistent request.
        let is_done = |objects: &Objects, place: usize, persistent: bool| {
            if persistent {
                return flag && index.is_none_or(|index| index == place as i32);
            }
            let handle = arguments.handle_at(objects, Class::Request, word, if is_list { place } else { 0 });
            objects.is_null(Class::Request, handle)
        };
        let mut done = Vec::new();
        let places: Vec<(usize, usize)> = match plan.indices {
            Some(_) => self.indices(call).into_iter().enumerate().collect(),
            None if plan.several => (0..named.len()).map(|place| (place, place)).collect(),
            None => (0..named.len()).map(|place| (0, place)).collect(),
        };
        for (status, place) in places {
            let Some(number) = named.get(place).copied().flatten() else { continue };
            let slot = *self.objects.requests.slot(number);
            if (plan.indices.is_some() && slot.persistent) || is_done(self.objects, place, slot.persistent) {
                done.push((status, number));
            }
        }
        done
    }

    fn statuses(&mut self, call: &Call<'_>, done: &[(usize, u32)]) {
        let Some(at) = call.plan.status else { return };
        let statuses = call.arguments.word(at);
        let mut heard = Vec::new();
        for (status, number) in done {
            let slot = *self.objects.requests.slot(*number);
            if !(slot.any_source || slot.any_tag) || (slot.persistent && !slot.active) {
                continue;
            }
            let address = statuses + status * self.objects.abi.status.size;
            let (source, tag) = if call.arguments.ignores(self.objects, at, call.plan.several) {
                (NONE, NONE)
            } else {
                self.heard(address, slot.rank, slot.size)
            };
            heard
                .extend([if slot.any_source { source } else { NONE }, if slot.any_tag { tag } else { NONE }]);
        }
        self.list(heard.into_iter());
    }
}

/// The argument that names requests, and its role.
fn requests_of(call: &Call<'_>) -> Option<(usize, Role)> {
    let roles = call.arguments.call.roles().iter().copied().enumerate();
    let mut requests = roles.filter(|(_, role)| {
        matches!(role, Role::Request | Role::Requests | Role::Start | Role::Starts | Role::FreeRequest)
    });
    requests.next()
}
