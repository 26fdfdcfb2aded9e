//! NetMerger: asks the daemons of other nodes on behalf of all reducers of this one, by one connection to each node.

use crate::connection::Connection;
use crate::door::Shut;
use crate::fair::Fair;
use crate::jobs::Job;
use crate::metrics::Metrics;
use crate::own_link::Own;
use crate::pace::Pace;
use crate::peer_link;
use crate::rdma::Rdma;
use crate::reach::{Failed, Reach};
use crate::served::WINDOW;
use crate::shares::{Payer, Shares};
use crate::supplier::STACK;
use crate::transport::Transports;
use crate::wire::{Ask, LookAnswer, RefusalReason, Refused, Request};
use std::collections::HashMap;
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Most connections to other nodes at once: the dissertation's bound. Jobs and users have fair shares of them.
pub const MOST_PEERS: usize = 512;
/// How long a request waits for a connection where too many are in use.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a node that says that it is busy is asked again. The pause before it is asked again doubles each time.
const BUSY: Duration = Duration::from_secs(600);
/// The first pause before a busy node is asked again. Also the pause while too many connections are in use.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest pause before a busy node is asked again.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// Requests without a sign of progress that end a connection: they must not fill its window.
const MOST_STUCK: usize = WINDOW / 4;

/// The answer of another node about a segment.
#[derive(Debug, PartialEq, Eq)]
pub enum Answered {
    Looked(LookAnswer),
    Data(Vec<u8>),
}

/// The answer to a request, or the refusal of it.
pub type CallResult = Result<Answered, Refused>;

/// A request of a reducer, from the moment that it asks to the answer.
pub struct Call {
    pub job: Arc<Job>,
    pub request: Request,
    pub reply: SyncSender<CallResult>,
    pub signs: Arc<Signs>,
}

/// A request that was made, and may be answered already. If this is dropped, a request that was not sent yet is not.
pub struct Asked {
    peer: Arc<PeerNode>,
    answer: Receiver<CallResult>,
    signs: Arc<Signs>,
}

/// The time of the last sign of progress of one request; None until the request is sent.
#[derive(Default)]
pub struct Signs(Mutex<Option<Instant>>);

/// The part of the daemon that asks other nodes: its connections, and what they need.
pub struct Peers {
    pub port: u16,
    pub pace: Pace,
    pub reach: Arc<Reach>,
    /// The supplier of this process, which is asked without a connection; None in tests that connect to this node
    /// too.
    pub own: Option<Own>,
    pub transports: Transports,
    pub rdma: Option<Arc<Rdma>>,
    most: usize,
    pub metrics: Arc<Metrics>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    peers: HashMap<String, Arc<PeerNode>>,
    uses: u64,
}

/// A node that is asked, by one connection, and the job that asked it first.
pub struct PeerNode {
    pub host: String,
    owner: Payer,
    state: Mutex<State>,
    pub changed: Condvar,
}

pub struct State {
    pub queue: Fair<Payer, Call>,
    pub flights: HashMap<u64, peer_link::Flight>,
    /// The shares that jobs and users have of the requests in flight.
    pub window: Shares,
    pub proofs: peer_link::JobProofs,
    pub connection: Option<Connection>,
    pub failed: Option<Refused>,
    heard: Instant,
    /// True until the request is queued that the connection is made for.
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
    /// Returns the part of the daemon that asks. Other nodes are asked at the port where this one listens, and this
    /// node itself without a connection. There are at most `most` connections, by `rdma` where that is there.
    pub fn new(
        own: Own, pace: Pace, reach: Arc<Reach>, metrics: Arc<Metrics>, most: usize, rdma: Option<Arc<Rdma>>,
    ) -> Arc<Peers> {
        let (port, table) = (own.listens.port(), Mutex::default());
        let transports = own.supplier.transports.clone();
        Arc::new(Peers { port, pace, reach, own: Some(own), transports, rdma, most, metrics, table })
    }

    /// Returns the part that asks, with at most `most` connections; it asks this node itself by connections too.
    #[cfg(test)]
    pub fn bounded(port: u16, most: usize, pace: Pace, reach: Arc<Reach>, metrics: Arc<Metrics>) -> Arc<Peers> {
        let (transports, table) = (Transports::Plain, Mutex::default());
        Arc::new(Peers { port, pace, reach, own: None, transports, rdma: None, most, metrics, table })
    }

    /// Asks the node that the request names, and waits for its answer. `progress` is called whenever there is some,
    /// and ends the wait by returning false. Refuses as Here for trouble of this node's own.
    pub fn call(self: &Arc<Self>, job: &Arc<Job>, request: Request, progress: &mut dyn FnMut() -> bool) -> CallResult {
        let (end, mut pause) = (Instant::now() + BUSY, FIRST_PAUSE);
        loop {
            let answer = self.ask(job, &request).and_then(|asked| self.wait(&asked, progress));
            match answer {
                Err(Refused { why: RefusalReason::Busy, .. }) if Instant::now() < end && progress() => {
                    thread::sleep(pause);
                }
                other => return other,
            }
            pause = LONGEST_PAUSE.min(2 * pause);
        }
    }

    /// Asks the node that the request names, and does not wait for its answer, which `wait` returns.
    pub fn ask(self: &Arc<Self>, job: &Arc<Job>, request: &Request) -> Result<Asked, Refused> {
        let (reply, answer) = sync_channel(1);
        let signs = Arc::new(Signs::default());
        // How much a look reads is not known here; the node that reads it counts it.
        let bytes = match request.ask {
            Ask::Look { hold, .. } => u64::from(hold),
            Ask::Read { length, .. } => u64::from(length),
        };
        let mut peer = self.peer(&request.host, job.payer())?;
        if peer.lock().failed.is_some() {
            // The connection ended after it was found in the table.
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
        Ok(Asked { peer, answer, signs })
    }

    /// Waits for the answer to a request. `progress` is as in `call`. Does not ask a busy node again.
    pub fn wait(&self, asked: &Asked, progress: &mut dyn FnMut() -> bool) -> CallResult {
        // Whatever ends the connection sends an answer too. A request that shows no progress while others do is given
        // up.
        let Asked { peer, answer, signs } = asked;
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
            // A request that is not sent yet moves on as long as its connection does.
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

    /// Returns how many requests were sent and are not answered, and how many are not sent yet.
    pub fn under_way(&self) -> (u64, u64) {
        let peers: Vec<Arc<PeerNode>> = self.table().peers.values().cloned().collect();
        peers.iter().fold((0, 0), |(sent, waiting), peer| {
            let state = peer.lock();
            (sent + state.window.held(), waiting + state.queue.len() as u64)
        })
    }

    /// Returns how many connections there are now.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.table().peers.len()
    }

    /// Returns the nodes to which there is a connection, by name.
    #[cfg(test)]
    pub fn hosts(&self) -> Vec<String> {
        let mut hosts: Vec<String> = self.table().peers.values().map(|peer| peer.host.clone()).collect();
        hosts.sort();
        hosts
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connection to a node, which is made if there is none. Waits where too many are in use, and refuses
    /// after `PATIENCE`.
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

    /// Returns whether one more connection may be made for this job. Ends the longest unused one if there are too
    /// many.
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
            connection: None,
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

    /// Notes that a message of the node has arrived just now.
    pub fn heard(&self) {
        self.lock().heard = Instant::now();
    }

    /// Ends the connection, and refuses all requests that wait for it. A connection that failed before keeps its
    /// first reason.
    pub fn fail(&self, refused: &Refused) {
        let mut state = self.lock();
        let refused = state.failed.get_or_insert_with(|| refused.clone()).clone();
        if let Some(connection) = state.connection.take() {
            connection.shut();
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

    /// Ends the connection if `MOST_STUCK` of its requests have shown no progress for longer than `silent`.
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

    /// Waits for a request that may be sent, and returns it; None when the connection has ended.
    pub fn next(&self) -> Option<Call> {
        let mut guard = self.lock();
        loop {
            if guard.failed.is_some() {
                return None;
            }
            let state = &mut *guard;
            if let Some(call) = state.queue.take(|payer| state.window.may_take(*payer, 1)) {
                // The signs of a request that nobody waits for are its own alone.
                if Arc::strong_count(&call.signs) > 1 {
                    state.window.charge(call.job.payer(), 1);
                    return Some(call);
                }
                continue;
            }
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
