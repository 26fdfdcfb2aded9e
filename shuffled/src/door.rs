//! Decides which connections of a listener may stay. Those that have proved no job yet are few, the oldest of them
//! ends first, and each has little time, so they cost the proven ones nothing. Among the proven ones no peer and no
//! job keeps others out.

use crate::names::JobKey;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A connection that another thread can end.
pub trait Shut: Send + Sync {
    fn shut(&self);
}

impl Shut for TcpStream {
    fn shut(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

impl Shut for UnixStream {
    fn shut(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

/// The most connections at once, in all and of one peer: those that have proved a job, and those that have not.
#[derive(Clone, Copy)]
pub struct Limits {
    pub unproven: usize,
    pub unproven_of_one: usize,
    pub proven: usize,
    pub proven_of_one: usize,
}

/// The connections of one listener. `P` is a peer: an address, or a user of this node.
pub struct Door<P> {
    limits: Limits,
    state: Mutex<State<P>>,
}

struct State<P> {
    // By number, in the order of arrival.
    entries: BTreeMap<u64, Entry<P>>,
    arrivals: u64,
}

struct Entry<P> {
    peer: P,
    jobs: BTreeSet<JobKey>,
    stream: Arc<dyn Shut>,
}

/// The place of one connection among those of a listener, until this is dropped.
pub struct Admission<P: Copy + Eq + Hash> {
    door: Arc<Door<P>>,
    number: u64,
}

impl<P: Copy + Eq + Hash> Door<P> {
    pub fn new(limits: Limits) -> Arc<Door<P>> {
        let state = State { entries: BTreeMap::new(), arrivals: 0 };
        Arc::new(Door { limits, state: Mutex::new(state) })
    }

    /// Admits a new connection, and ends the oldest unproven ones where there are too many.
    pub fn enter(self: &Arc<Self>, peer: P, stream: Arc<dyn Shut>) -> Admission<P> {
        let mut state = self.lock();
        if state.count(|entry| !entry.is_proven() && entry.peer == peer) >= self.limits.unproven_of_one {
            state.end_unproven(peer);
        }
        if state.count(|entry| !entry.is_proven()) >= self.limits.unproven {
            if let Some(most) = state.most(|entry| !entry.is_proven()) {
                state.end_unproven(most);
            }
        }
        state.arrivals += 1;
        let number = state.arrivals;
        state.entries.insert(number, Entry { peer, jobs: BTreeSet::new(), stream });
        Admission { door: Arc::clone(self), number }
    }

    fn lock(&self) -> MutexGuard<'_, State<P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: Copy + Eq + Hash> Admission<P> {
    /// Notes that the connection has proved these jobs, and no others. Ends a connection where too many are proven;
    /// returns false if this one was ended, now or before.
    pub fn proved(&self, jobs: BTreeSet<JobKey>) -> bool {
        let mut state = self.door.lock();
        let Some(entry) = state.entries.get_mut(&self.number) else { return false };
        let (peer, is_first) = (entry.peer, !entry.is_proven());
        entry.jobs = jobs;
        if is_first {
            let limits = self.door.limits;
            if state.count(|entry| entry.is_proven() && entry.peer == peer) > limits.proven_of_one {
                state.end_proven(peer);
            }
            if state.count(Entry::is_proven) > limits.proven {
                if let Some(most) = state.most(Entry::is_proven) {
                    state.end_proven(most);
                }
            }
        }
        state.entries.contains_key(&self.number)
    }
}

impl<P: Copy + Eq + Hash> Drop for Admission<P> {
    fn drop(&mut self) {
        // The connection may end with its entry, and take its time: not under the lock of all others.
        let _entry = self.door.lock().entries.remove(&self.number);
    }
}

impl<P> Entry<P> {
    fn is_proven(&self) -> bool {
        !self.jobs.is_empty()
    }
}

impl<P: Copy + Eq + Hash> State<P> {
    fn count(&self, which: impl Fn(&Entry<P>) -> bool) -> usize {
        self.entries.values().filter(|entry| which(entry)).count()
    }

    /// Returns the peer with the most connections that `which` selects; of several such peers the one whose first is
    /// the oldest. None if no connection is selected.
    fn most(&self, which: impl Fn(&Entry<P>) -> bool) -> Option<P> {
        let mut counts: HashMap<P, (usize, u64)> = HashMap::new();
        for (number, entry) in self.entries.iter().filter(|(_, entry)| which(entry)) {
            counts.entry(entry.peer).or_insert((0, u64::MAX - number)).0 += 1;
        }
        counts.into_iter().max_by_key(|(_, rank)| *rank).map(|(peer, _)| peer)
    }

    fn end_unproven(&mut self, peer: P) {
        let oldest = self.entries.iter().find(|(_, entry)| entry.peer == peer && !entry.is_proven());
        if let Some(number) = oldest.map(|(number, _)| *number) {
            self.end(number);
        }
    }

    /// Ends that connection of a peer which its jobs need least, as each of them has many others of the same peer.
    fn end_proven(&mut self, peer: P) {
        let mut of_job: HashMap<JobKey, usize> = HashMap::new();
        let proven = || self.entries.iter().filter(|(_, entry)| entry.peer == peer && entry.is_proven());
        proven().flat_map(|(_, entry)| &entry.jobs).for_each(|job| *of_job.entry(*job).or_default() += 1);
        let spare = |entry: &Entry<P>| entry.jobs.iter().filter_map(|job| of_job.get(job)).min().copied();
        let least = proven().max_by_key(|(number, entry)| (spare(entry), u64::MAX - **number));
        if let Some(number) = least.map(|(number, _)| *number) {
            self.end(number);
        }
    }

    fn end(&mut self, number: u64) {
        if let Some(entry) = self.entries.remove(&number) {
            entry.stream.shut();
        }
    }
}

#[cfg(test)]
#[path = "door_tests.rs"]
mod tests;
