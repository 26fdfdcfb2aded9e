//! NetMerger: asks the daemons of other nodes for all reducers of this one, by one connection a node.

use crate::auth::{is_equal, Session, Transcript, Way};
use crate::fair::Fair;
use crate::jobs::Job;
use crate::link::{greet, malformed, receive, sealed, End, Received};
use crate::metrics::Metrics;
use crate::names::JobKey;
use crate::supplier::WINDOW;
use crate::wire::{Ask, Looked, Malformed, Message, Refusal, Refused, Request, LARGEST_READ};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc::{sync_channel, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Connections to other nodes at once; the dissertation's bound.
const MOST_PEERS: usize = 512;
const MOST_WAITING: usize = 65_536;
const CONNECTING: Duration = Duration::from_secs(10);
const SILENT: Duration = Duration::from_secs(120);

/// What another node said of a segment.
#[derive(Debug, PartialEq, Eq)]
pub enum Answered {
    Looked(Looked),
    Data(Vec<u8>),
}

type Reply = SyncSender<Result<Answered, Refused>>;

struct Call {
    job: Arc<Job>,
    request: Request,
    reply: Reply,
}

/// All nodes that are asked.
pub struct Peers {
    port: u16,
    most: usize,
    metrics: Arc<Metrics>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    peers: HashMap<String, Arc<Peer>>,
    uses: u64,
}

struct Peer {
    host: String,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: Fair<JobKey, Call>,
    flights: HashMap<u64, Flight>,
    asks: usize,
    proofs: HashMap<JobKey, Proof>,
    stream: Option<TcpStream>,
    failed: Option<String>,
    used: u64,
}

/// A message whose answer is on its way.
enum Flight {
    Auth(JobKey),
    Ask(Call),
}

/// A job that was proved to a node, and whether the node proved it too.
struct Proof {
    job: Arc<Job>,
    session: Arc<Session>,
    is_mutual: bool,
}

impl Peers {
    pub fn new(port: u16, metrics: Arc<Metrics>) -> Arc<Peers> {
        Peers::bounded(port, MOST_PEERS, metrics)
    }

    pub fn bounded(port: u16, most: usize, metrics: Arc<Metrics>) -> Arc<Peers> {
        Arc::new(Peers { port, most, metrics, table: Mutex::default() })
    }

    /// Asks the node that the request names, and waits for its answer.
    pub fn call(self: &Arc<Self>, job: &Arc<Job>, request: Request) -> Result<Answered, Refused> {
        let (reply, answer) = sync_channel(1);
        let bytes = match request.ask {
            Ask::Look { hold, .. } => u64::from(hold),
            Ask::Read { length, .. } => u64::from(length),
        };
        let mut peer = self.peer(&request.host)?;
        if peer.lock().failed.is_some() {
            // It ended between the look at the table and now.
            peer = self.peer(&request.host)?;
        }
        let mut state = peer.lock();
        if let Some(why) = &state.failed {
            return Err(Refused::new(Refusal::Unreachable, why));
        }
        if state.queue.len() >= MOST_WAITING {
            return Err(Refused::new(Refusal::TooMuch, "too many requests wait for this node"));
        }
        state.queue.add(request.map.job, bytes, Call { job: Arc::clone(job), request, reply });
        drop(state);
        peer.changed.notify_all();
        // Whatever ends the connection answers, so this waits no longer than its time-outs.
        answer.recv().unwrap_or_else(|_| Err(Refused::new(Refusal::Unreachable, "the connection ended")))
    }

    /// Returns how many connections there are now.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.table().peers.len()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn peer(self: &Arc<Self>, host: &str) -> Result<Arc<Peer>, Refused> {
        let mut table = self.table();
        table.uses += 1;
        let uses = table.uses;
        if let Some(peer) = table.peers.get(host) {
            peer.lock().used = uses;
            return Ok(Arc::clone(peer));
        }
        if table.peers.len() >= self.most {
            close_oldest(&mut table)?;
        }
        let peer = Arc::new(Peer { host: host.to_owned(), state: Mutex::default(), changed: Condvar::new() });
        peer.lock().used = uses;
        table.peers.insert(host.to_owned(), Arc::clone(&peer));
        drop(table);
        let (peers, started) = (Arc::clone(self), Arc::clone(&peer));
        self.metrics.peers_out.add(1);
        let spawned = thread::Builder::new().name("peer-out".to_owned()).spawn(move || {
            let result = run(&peers, &started);
            peers.end(&started, &result.err().map_or("closed".to_owned(), |error| error.to_string()));
            peers.metrics.peers_out.subtract(1);
        });
        if let Err(error) = spawned {
            self.metrics.peers_out.subtract(1);
            self.end(&peer, &error.to_string());
        }
        Ok(peer)
    }

    fn end(&self, peer: &Arc<Peer>, why: &str) {
        let mut table = self.table();
        if table.peers.get(&peer.host).is_some_and(|current| Arc::ptr_eq(current, peer)) {
            table.peers.remove(&peer.host);
        }
        drop(table);
        peer.fail(why);
    }
}

/// Ends the connection that was unused for longest. Raises a refusal if all are in use.
fn close_oldest(table: &mut Table) -> Result<(), Refused> {
    let idle = |peer: &&Arc<Peer>| {
        let state = peer.lock();
        state.flights.is_empty() && state.queue.len() == 0
    };
    let oldest = table.peers.values().filter(idle).min_by_key(|peer| peer.lock().used).cloned();
    let Some(oldest) = oldest else {
        return Err(Refused::new(Refusal::Unreachable, "all connections to other nodes are in use"));
    };
    table.peers.remove(&oldest.host);
    oldest.fail("closed for another node's");
    Ok(())
}

impl Peer {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the connection; all who wait for it learn why.
    fn fail(&self, why: &str) {
        let mut state = self.lock();
        let why = state.failed.get_or_insert_with(|| format!("{}: {why}", self.host)).clone();
        if let Some(stream) = state.stream.take() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let flown = state.flights.drain().filter_map(|(_, flight)| match flight {
            Flight::Ask(call) => Some(call),
            Flight::Auth(_) => None,
        });
        let mut calls: Vec<Call> = flown.collect();
        calls.extend(state.queue.drain());
        drop(state);
        self.changed.notify_all();
        for call in calls {
            let _ = call.reply.send(Err(Refused::new(Refusal::Unreachable, &why)));
        }
    }

    /// Waits for a request that may be sent; None at the end.
    fn next(&self) -> Option<Call> {
        let mut state = self.lock();
        loop {
            if state.failed.is_some() {
                return None;
            }
            if state.asks < WINDOW {
                if let Some(call) = state.queue.take() {
                    state.asks += 1;
                    return Some(call);
                }
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn run(peers: &Arc<Peers>, peer: &Arc<Peer>) -> io::Result<()> {
    let mut stream = connect(&peer.host, peers.port)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SILENT))?;
    stream.set_write_timeout(Some(SILENT))?;
    let ends = format!("{} {}", plain(stream.local_addr()?), plain(stream.peer_addr()?));
    let transcript = greet(&mut stream, End::Asker, ends)?;
    let reading = stream.try_clone()?;
    {
        let mut state = peer.lock();
        if state.failed.is_some() {
            return Ok(());
        }
        state.stream = Some(stream.try_clone()?);
    }
    let (other, reader_transcript) = (Arc::clone(peer), transcript.clone());
    let reader = thread::Builder::new().name("peer-out-read".to_owned()).spawn(move || {
        let result = Reader { peer: &other, transcript: reader_transcript, answered: 0 }.read_all(reading);
        other.fail(&result.err().map_or("closed".to_owned(), |error| error.to_string()));
    })?;
    let result = send_all(&mut stream, peer, &transcript);
    peer.fail(&result.as_ref().err().map_or("closed".to_owned(), ToString::to_string));
    let _ = reader.join();
    result
}

/// Returns an address as both ends see it: of IPv4 within IPv6 the former.
pub fn plain(address: SocketAddr) -> String {
    let ip: IpAddr = address.ip().to_canonical();
    format!("{ip}:{}", address.port())
}

fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::other("no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECTING) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn send_all(stream: &mut TcpStream, peer: &Peer, transcript: &Transcript) -> io::Result<()> {
    let (mut id, mut place) = (0, 0);
    while let Some(call) = peer.next() {
        let key = call.job.key;
        let mut bytes = Vec::new();
        let mut state = peer.lock();
        if state.failed.is_some() {
            let _ = call.reply.send(Err(Refused::new(Refusal::Unreachable, "the connection ended")));
            return Ok(());
        }
        // The node need not answer first: what follows is refused if the proof is.
        if !state.proofs.get(&key).is_some_and(|proof| Arc::ptr_eq(&proof.job, &call.job)) {
            let session = Arc::new(transcript.session(&call.job.secret, key));
            state.proofs.insert(key, Proof { job: Arc::clone(&call.job), session, is_mutual: false });
            let mac = transcript.asker_proof(&call.job.secret, key);
            bytes = Message::Auth { job: key, mac }.encode(id, false);
            state.flights.insert(id, Flight::Auth(key));
            id += 1;
        }
        let request = Request { host: String::new(), ..call.request.clone() };
        if let Some(proof) = state.proofs.get(&key) {
            bytes.extend(sealed(&Message::Ask(request), id, &proof.session, Way::Asked, place));
        }
        state.flights.insert(id, Flight::Ask(call));
        drop(state);
        (id, place) = (id + 1, place + 1);
        stream.write_all(&bytes)?;
    }
    Ok(())
}

struct Reader<'a> {
    peer: &'a Peer,
    transcript: Transcript,
    answered: u64,
}

impl Reader<'_> {
    fn read_all(&mut self, mut stream: TcpStream) -> io::Result<()> {
        loop {
            let received = receive(&mut stream)?;
            self.take(received, &mut stream)?;
        }
    }

    fn take(&mut self, received: Received, stream: &mut TcpStream) -> io::Result<()> {
        let flight = self.peer.lock().flights.remove(&received.header.id);
        match flight.ok_or_else(|| malformed(Malformed("an answer to nothing")))? {
            Flight::Auth(key) => self.authenticated(key, &received),
            Flight::Ask(call) => {
                let result = self.answer(&call, received, stream);
                let broken = result.as_ref().err().map(|error| io::Error::new(error.kind(), error.to_string()));
                let answer = result.unwrap_or_else(|error| Err(Refused::new(Refusal::Unreachable, error)));
                let _ = call.reply.send(answer);
                self.peer.lock().asks -= 1;
                self.peer.changed.notify_all();
                broken.map_or(Ok(()), Err)
            }
        }
    }

    fn authenticated(&mut self, key: JobKey, received: &Received) -> io::Result<()> {
        let mut state = self.peer.lock();
        match &received.message {
            Message::Authenticated { mac } => {
                let proof = state.proofs.get_mut(&key).ok_or_else(|| malformed(Malformed("a proof of no job")))?;
                if !is_equal(mac, &self.transcript.answerer_proof(&proof.job.secret, key)) {
                    return Err(malformed(Malformed("a node that does not know the job's secret")));
                }
                proof.is_mutual = true;
            }
            Message::Refused(_) => drop(state.proofs.remove(&key)),
            _ => return Err(malformed(Malformed("not an answer to a proof"))),
        }
        Ok(())
    }

    fn answer(
        &mut self, call: &Call, received: Received, stream: &mut TcpStream,
    ) -> io::Result<Result<Answered, Refused>> {
        let key = call.job.key;
        if !received.header.is_tagged() {
            let Message::Refused(refused) = received.message else {
                return Err(malformed(Malformed("an answer without a tag")));
            };
            // It may be from anybody, so it can be believed only as "ask again later".
            self.peer.lock().proofs.remove(&key);
            return Ok(Err(Refused { why: Refusal::NotAllowed, ..refused }));
        }
        let session = match self.peer.lock().proofs.get(&key) {
            Some(proof) if proof.is_mutual => Arc::clone(&proof.session),
            _ => return Err(malformed(Malformed("an answer of a node that proved nothing"))),
        };
        received.verify(&session, Way::Answered, self.answered)?;
        self.answered += 1;
        match (received.message, call.request.ask) {
            (Message::Refused(refused), _) => Ok(Err(refused)),
            (Message::Looked(looked), Ask::Look { hold, .. }) if looked.held.len() <= hold as usize => {
                Ok(Ok(Answered::Looked(looked)))
            }
            (Message::Data { length }, Ask::Read { length: asked, .. }) if length == asked && asked <= LARGEST_READ => {
                let mut bytes = vec![0; length as usize];
                stream.read_exact(&mut bytes)?;
                Ok(Ok(Answered::Data(bytes)))
            }
            _ => Err(malformed(Malformed("an answer to something else"))),
        }
    }
}
