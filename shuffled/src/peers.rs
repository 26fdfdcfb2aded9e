//! NetMerger: asks the daemons of other nodes for all reducers of this one, by one connection a node.

use crate::fair::Fair;
use crate::jobs::Job;
use crate::metrics::Metrics;
use crate::own_link::Own;
use crate::pace::Pace;
use crate::peer_link;
use crate::reach::{Failed, Reach};
use crate::served::WINDOW;
use crate::shares::{Payer, Shares};
use crate::supplier::STACK;
use crate::transport::Transports;
use crate::wire::{Ask, LookAnswer, RefusalReason, Refused, Request};
use std::collections::HashMap;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Connections to other nodes at once; the dissertation's bound. Jobs and users have fair shares.
const MOST_PEERS: usize = 512;
/// How long a request waits for a place among them.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long, and how often, a node is asked again that says that it is busy, and so is there.
const BUSY: Duration = Duration::from_secs(600);
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// Requests without a sign of progress, with which a connection ends: its window is not to fill with them.
const MOST_STUCK: usize = WINDOW / 4;

/// The answer of another node about a segment.
#[derive(Debug, PartialEq, Eq)]
pub enum Answered {
    Looked(LookAnswer),
    Data(Vec<u8>),
}

pub type CallResult = Result<Answered, Refused>;

/// One request, from the moment a reducer asks.
pub struct Call {
    pub job: Arc<Job>,
    pub request: Request,
    pub reply: SyncSender<CallResult>,
    pub signs: Arc<Signs>,
}

/// Signs of progress of one request; none are due before it is sent.
#[derive(Default)]
pub struct Signs(Mutex<Option<Instant>>);

/// All nodes that are asked.
pub struct Peers {
    pub port: u16,
    pub pace: Pace,
    pub reach: Arc<Reach>,
    /// The supplier of this process; None in tests where each name is another node's.
    pub own: Option<Own>,
    pub transports: Transports,
    most: usize,
    pub metrics: Arc<Metrics>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    peers: HashMap<String, Arc<PeerNode>>,
    uses: u64,
}

/// One node that is asked, and the job that asked first.
pub struct PeerNode {
    pub host: String,
    owner: Payer,
    state: Mutex<State>,
    pub changed: Condvar,
}

pub struct State {
    pub queue: Fair<Payer, Call>,
    pub flights: HashMap<u64, peer_link::Flight>,
    /// Requests on their way, by job and user.
    pub window: Shares,
    pub proofs: peer_link::JobProofs,
    pub stream: Option<Arc<TcpStream>>,
    pub failed: Option<Refused>,
    heard: Instant,
    /// True as long as the request that it was made for is still to come.
    is_fresh: bool,
    used: u64,
}

impl Signs {
    pub fn seen(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn last(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Peers {
    /// Makes the part of the daemon that asks: other nodes at the port where this one listens, and itself.
    pub fn new(own: Own, pace: Pace, reach: Arc<Reach>, metrics: Arc<Metrics>) -> Arc<Peers> {
        let (port, table) = (own.listens.port(), Mutex::default());
        let transports = own.supplier.transports.clone();
        Arc::new(Peers { port, pace, reach, own: Some(own), transports, most: MOST_PEERS, metrics, table })
    }

    /// Makes one that asks this node itself by connections too.
    #[cfg(test)]
    pub fn bounded(port: u16, most: usize, pace: Pace, reach: Arc<Reach>, metrics: Arc<Metrics>) -> Arc<Peers> {
        let (transports, table) = (Transports::Plain, Mutex::default());
        Arc::new(Peers { port, pace, reach, own: None, transports, most, metrics, table })
    }

    /// Asks the node that the request names, and waits for its answer; `progress` is called whenever
    /// there was some, and ends the wait by returning false.
    pub fn call(self: &Arc<Self>, job: &Arc<Job>, request: Request, progress: &mut dyn FnMut() -> bool) -> CallResult {
        let (end, mut pause) = (Instant::now() + BUSY, FIRST_PAUSE);
        loop {
            let answer = self.call_once(job, &request, progress);
            match answer {
                Err(Refused { why: RefusalReason::Busy, .. }) if Instant::now() < end && progress() => {
                    thread::sleep(pause);
                }
                other => return other,
            }
            pause = LONGEST_PAUSE.min(2 * pause);
        }
    }

    fn call_once(
        self: &Arc<Self>, job: &Arc<Job>, request: &Request, progress: &mut dyn FnMut() -> bool,
    ) -> CallResult {
        let (reply, answer) = sync_channel(1);
        let signs = Arc::new(Signs::default());
        // What a look reads there is not known here, but its node counts it.
        let bytes = match request.ask {
            Ask::Look { hold, .. } => u64::from(hold),
            Ask::Read { length, .. } => u64::from(length),
        };
        let mut peer = self.peer(&request.host, job.payer())?;
        if peer.lock().failed.is_some() {
            // It ended between the look at the table and now.
            peer = self.peer(&request.host, job.payer())?;
        }
        let mut state = peer.lock();
        if let Some(refused) = &state.failed {
            return Err(refused.clone());
        }
        let call = Call { job: Arc::clone(job), request: request.clone(), reply, signs: Arc::clone(&signs) };
        state.queue.add(job.payer(), bytes, call);
        state.is_fresh = false;
        drop(state);
        peer.changed.notify_all();
        self.wait(&peer, &answer, &signs, progress)
    }

    // Whatever ends the connection answers. A request that shows no progress while others do is left.
    fn wait(
        &self, peer: &PeerNode, answer: &Receiver<CallResult>, signs: &Signs, progress: &mut dyn FnMut() -> bool,
    ) -> CallResult {
        let begun = Instant::now();
        let mut told = begun;
        loop {
            match answer.recv_timeout(self.pace.tick) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Refused::new(RefusalReason::Unreachable, "the connection ended"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let sign = signs.last();
            // One that waits for its turn moves on as long as the connection does.
            let moved = sign.unwrap_or_else(|| peer.lock().heard.max(begun));
            if moved.elapsed() > self.pace.silent {
                let why = format!("{}: no sign of progress for {} s", peer.host, self.pace.silent.as_secs());
                let refused = Refused::new(RefusalReason::Unreachable, why);
                match sign {
                    Some(_) => peer.check(self.pace.silent, &refused),
                    None => peer.fail(&refused),
                }
                return Err(refused);
            }
            if moved > told {
                told = Instant::now();
                if !progress() {
                    return Err(Refused::new(RefusalReason::Here, "the reducer went away"));
                }
            }
        }
    }

    /// Returns how many connections there are now.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.table().peers.len()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connection to a node; waits for a place where there are too many.
    fn peer(self: &Arc<Self>, host: &str, payer: Payer) -> Result<Arc<PeerNode>, Refused> {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(peer) = self.try_peer(host, payer) {
                return Ok(peer);
            }
            if Instant::now() >= end {
                let why = "all connections of this node's daemon to others are in use, or its job's share";
                return Err(Refused::new(RefusalReason::Here, why));
            }
            thread::sleep(FIRST_PAUSE);
        }
    }

    fn try_peer(self: &Arc<Self>, host: &str, payer: Payer) -> Option<Arc<PeerNode>> {
        let mut table = self.table();
        table.uses += 1;
        let uses = table.uses;
        if let Some(peer) = table.peers.get(host) {
            peer.lock().used = uses;
            return Some(Arc::clone(peer));
        }
        if !self.has_place(&mut table, payer) {
            return None;
        }
        let peer = Arc::new(PeerNode::new(host, payer));
        peer.lock().used = uses;
        table.peers.insert(host.to_owned(), Arc::clone(&peer));
        drop(table);
        let (peers, started) = (Arc::clone(self), Arc::clone(&peer));
        let spawned = thread::Builder::new().name("peer-out".to_owned()).stack_size(STACK).spawn(move || {
            let refused = match peer_link::run(&peers, &started) {
                Ok(()) => Refused::new(RefusalReason::Unreachable, format!("{}: closed", started.host)),
                Err(Failed { why, text }) => Refused::new(why, text),
            };
            peers.end(&started, &refused);
        });
        if let Err(error) = spawned {
            self.end(&peer, &Refused::new(RefusalReason::Here, error));
        }
        Some(peer)
    }

    /// Returns whether one more connection may be made for this job; the longest unused ends for it.
    fn has_place(&self, table: &mut Table, payer: Payer) -> bool {
        let mut busy = Shares::new(self.most as u64);
        let mut idle: Option<(u64, Arc<PeerNode>)> = None;
        for peer in table.peers.values() {
            let state = peer.lock();
            if state.is_fresh || !state.flights.is_empty() || state.queue.len() > 0 {
                busy.charge(peer.owner, 1);
            } else if idle.as_ref().is_none_or(|(used, _)| state.used < *used) {
                idle = Some((state.used, Arc::clone(peer)));
            }
        }
        if !busy.may_take(payer, 1) {
            return false;
        }
        if table.peers.len() >= self.most {
            let Some((_, oldest)) = idle else { return false };
            table.peers.remove(&oldest.host);
            let why = format!("{}: closed for another node's", oldest.host);
            oldest.fail(&Refused::new(RefusalReason::Unreachable, why));
        }
        true
    }

    fn end(&self, peer: &Arc<PeerNode>, refused: &Refused) {
        let mut table = self.table();
        if table.peers.get(&peer.host).is_some_and(|current| Arc::ptr_eq(current, peer)) {
            table.peers.remove(&peer.host);
        }
        drop(table);
        peer.fail(refused);
    }
}

impl PeerNode {
    fn new(host: &str, owner: Payer) -> PeerNode {
        let state = State {
            queue: Fair::default(),
            flights: HashMap::new(),
            window: Shares::new(WINDOW as u64),
            proofs: peer_link::JobProofs::new(),
            stream: None,
            failed: None,
            heard: Instant::now(),
            is_fresh: true,
            used: 0,
        };
        PeerNode { host: host.to_owned(), owner, state: Mutex::new(state), changed: Condvar::new() }
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the node said something.
    pub fn heard(&self) {
        self.lock().heard = Instant::now();
    }

    /// Ends the connection; all who wait for it learn why.
    pub fn fail(&self, refused: &Refused) {
        let mut state = self.lock();
        let refused = state.failed.get_or_insert_with(|| refused.clone()).clone();
        if let Some(stream) = state.stream.take() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let flown = state.flights.drain().filter_map(|(_, flight)| match flight {
            peer_link::Flight::Ask(call) => Some(call),
            peer_link::Flight::Auth(_) => None,
        });
        let mut calls: Vec<Call> = flown.collect();
        calls.extend(state.queue.drain());
        drop(state);
        self.changed.notify_all();
        for call in calls {
            let _ = call.reply.send(Err(refused.clone()));
        }
    }

    /// Ends the connection if many of its requests show no progress.
    fn check(&self, silent: Duration, refused: &Refused) {
        let is_stuck = |flight: &peer_link::Flight| match flight {
            peer_link::Flight::Ask(call) => call.signs.last().is_some_and(|at| at.elapsed() > silent),
            peer_link::Flight::Auth(_) => false,
        };
        let stuck = self.lock().flights.values().filter(|flight| is_stuck(flight)).count();
        if stuck >= MOST_STUCK {
            self.fail(refused);
        }
    }

    /// Waits for a request that may be sent; None at the end.
    pub fn next(&self) -> Option<Call> {
        let mut guard = self.lock();
        loop {
            if guard.failed.is_some() {
                return None;
            }
            let state = &mut *guard;
            if let Some(call) = state.queue.take(|payer| state.window.may_take(*payer, 1)) {
                state.window.charge(call.job.payer(), 1);
                return Some(call);
            }
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
