//! One rank alone.

use super::{CommError, Communicator};
use std::cell::RefCell;
use std::collections::VecDeque;

/// A single rank: code for many ranks runs on it without threads.
#[derive(Debug, Default)]
pub struct Solo {
    to_itself: RefCell<VecDeque<Vec<u8>>>,
}

impl Communicator for Solo {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), CommError> {
        assert!(to == 0, "a message for rank {to} of 1");
        self.to_itself.borrow_mut().push_back(message.to_vec());
        Ok(())
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, CommError> {
        assert!(from == 0, "a message of rank {from} of 1");
        let reason = "no message was sent, and nobody else will send one".into();
        self.to_itself.borrow_mut().pop_front().ok_or(CommError::Transport { call: "receive", reason })
    }

    /// Does nothing: no other rank waits.
    fn fail(&self, _reason: &str) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reduction;

    #[test]
    fn one_rank_has_what_it_gave() {
        let comm = Solo::default();
        let mut values = [3, -4];
        comm.all_reduce(Reduction::Sum, &mut values).unwrap();
        assert_eq!(values, [3, -4]);
        assert_eq!(comm.sum_before(7).unwrap(), 0);
        assert_eq!(comm.all_gather(b"ab").unwrap(), [b"ab".to_vec()]);
        let mut bytes = b"xyz".to_vec();
        comm.broadcast(0, &mut bytes).unwrap();
        comm.concatenate(&mut bytes).unwrap();
        assert_eq!(bytes, b"xyz");
        let parcels = vec![(0, vec![1]), (0, vec![2])];
        assert_eq!(comm.route(parcels.clone()).unwrap(), parcels);
        comm.send(0, b"1").unwrap();
        comm.send(0, b"2").unwrap();
        assert_eq!(comm.receive(0).unwrap(), b"1");
        assert_eq!(comm.receive(0).unwrap(), b"2");
        assert!(comm.receive(0).unwrap_err().to_string().contains("nobody else will send one"));
    }
}
