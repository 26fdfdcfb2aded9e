//! Runs the connection to one other node: a thread sends requests, and one reads the answers.

use crate::auth::{is_equal, Direction, SessionKey, Transcript};
use crate::connection::Connection;
use crate::jobs::Job;
use crate::link::{greet, malformed, receive, sealed, LinkRole, Received};
use crate::names::JobKey;
use crate::peers::{Answered, Call, CallResult, PeerNode, Peers};
use crate::reach::{Failed, Reach};
use crate::served::plain;
use crate::supplier::STACK;
use crate::transport::Wire;
use crate::wire::{Accept, Ask, Malformed, Message, RefusalReason, Refused, Request, LARGEST_READ};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// A message that was sent and is not answered yet.
pub enum Flight {
    Auth(JobKey),
    Ask(Call),
}

/// The jobs that were proved to one node, by key. The references to them are weak: their secrets live no longer than
/// the NodeManager says.
pub type JobProofs = HashMap<JobKey, Proof>;

/// A job that was proved to a node, and whether the node proved it too.
pub struct Proof {
    job: Weak<Job>,
    session: Arc<SessionKey>,
    is_mutual: bool,
}

/// Connects to a node, and sends it requests until the connection ends. Requests to this node itself are answered
/// without a connection. Returns an error if no connection could be made, or it broke.
pub fn run(peers: &Arc<Peers>, peer: &Arc<PeerNode>) -> Result<(), Failed> {
    let is_own = |address: &SocketAddr| peers.own.as_ref().is_some_and(|own| own.is_at(address));
    let connected = connect(peers, &peer.host, is_own)?;
    match (connected, &peers.own) {
        (None, Some(own)) => own.run(peer, peers.pace.tick),
        (None, None) => Ok(()),
        (Some(connection), _) => {
            peers.metrics.peers_out.add(1);
            let result = run_connected(peers, peer, &connection);
            peers.metrics.peers_out.subtract(1);
            result
        }
    }
}

/// Connects to a node by RDMA where both have it, else by TCP; None if the node is this one.
fn connect(peers: &Peers, host: &str, is_own: impl Fn(&SocketAddr) -> bool) -> Result<Option<Connection>, Failed> {
    let by_tcp = || {
        let connected = peers.reach.connect(host, peers.port, &is_own)?;
        Ok(connected.map(|stream| Connection::Tcp(Arc::new(stream))))
    };
    let Some(rdma) = peers.rdma.as_ref().filter(|rdma| rdma.is_for(host)) else { return by_tcp() };
    let reached = peers.reach.connect_by(host, peers.port, &is_own, |address| rdma.connect(address));
    match reached {
        Err(failed) if !rdma.is_only => {
            let connected = by_tcp()?;
            // A node that nothing reaches may have RDMA all the same.
            if rdma.missed(host) {
                eprintln!("vas-shuffled: RDMA does not reach a node, TCP does: {}", failed.text);
            }
            Ok(connected)
        }
        reached => {
            let line = reached?;
            peers.metrics.rdma_links.add(u64::from(line.is_some()));
            Ok(line.map(Connection::Rdma))
        }
    }
}

fn run_connected(peers: &Arc<Peers>, peer: &Arc<PeerNode>, connection: &Connection) -> Result<(), Failed> {
    let broken = |error: io::Error| Failed { why: RefusalReason::Unreachable, text: format!("{}: {error}", peer.host) };
    let end = Instant::now() + peers.pace.proof;
    connection.begin(end, LinkRole::Asker).map_err(broken)?;
    let wire = peers.transports.asker(connection, &peer.host, end).map_err(broken)?;
    // The handshake had a time limit of its own.
    connection.limits(peers.pace.silent, peers.pace.silent).map_err(broken)?;
    let ends = local_and_peer(connection).map_err(broken)? + wire.binding();
    let transcript = greet(&mut &wire, LinkRole::Asker, ends).map_err(broken)?;
    let wire = Arc::new(wire);
    {
        let mut state = peer.lock();
        if state.failed.is_some() {
            return Ok(());
        }
        state.connection = Some(connection.clone());
    }
    let reader = {
        let (peer, wire, reach) = (Arc::clone(peer), Arc::clone(&wire), Arc::clone(&peers.reach));
        let (transcript, silent) = (transcript.clone(), peers.pace.silent);
        thread::Builder::new().name("peer-out-read".to_owned()).stack_size(STACK).spawn(move || {
            let result = Reader { silent, peer: &peer, transcript, reach: &reach, answered: 0 }.read_all(&wire);
            peer.fail(&refused(&peer.host, result));
        })
    };
    // A thread that cannot be started is trouble of this node's own.
    let reader = reader.map_err(|error| Failed { why: RefusalReason::Here, text: error.to_string() })?;
    let result = send_all(&wire, peer, &transcript);
    let why = result.as_ref().err().map(|error| io::Error::new(error.kind(), error.to_string()));
    peer.fail(&refused(&peer.host, why.map_or(Ok(()), Err)));
    let _ = reader.join();
    result.map_err(broken)
}

fn refused(host: &str, result: io::Result<()>) -> Refused {
    let why = match result {
        Ok(()) => "closed".to_owned(),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => "nothing was heard for too long".to_owned(),
        Err(error) => error.to_string(),
    };
    Refused::new(RefusalReason::Unreachable, format!("{host}: {why}"))
}

fn local_and_peer(connection: &Connection) -> io::Result<String> {
    Ok(format!("{} {}", plain(connection.local_addr()?), plain(connection.peer_addr()?)))
}

fn send_all(mut wire: &Wire, peer: &PeerNode, transcript: &Transcript) -> io::Result<()> {
    let (mut id, mut place) = (0, 0);
    while let Some(call) = peer.next() {
        let key = call.job.key;
        let mut bytes = Vec::new();
        let mut state = peer.lock();
        if let Some(refused) = &state.failed {
            let _ = call.reply.send(Err(refused.clone()));
            return Ok(());
        }
        // The request does not wait for the answer to the proof: if the proof is refused, the request is too.
        if state.proofs.get(&key).is_none_or(|proof| proof.job.as_ptr() != Arc::as_ptr(&call.job)) {
            let session = Arc::new(transcript.session(&call.job.secret, key));
            state.proofs.retain(|_, proof| proof.job.strong_count() > 0);
            state.proofs.insert(key, Proof { job: Arc::downgrade(&call.job), session, is_mutual: false });
            let mac = transcript.asker_proof(&call.job.secret, key);
            bytes = Message::Auth { job: key, mac }.encode(id, false);
            state.flights.insert(id, Flight::Auth(key));
            id += 1;
        }
        let request = Request { host: String::new(), ..call.request.clone() };
        if let Some(proof) = state.proofs.get(&key) {
            bytes.extend(sealed(&Message::Ask(request), id, &proof.session, Direction::Asked, place));
        }
        call.signs.seen();
        state.flights.insert(id, Flight::Ask(call));
        drop(state);
        (id, place) = (id + 1, place + 1);
        wire.write_all(&bytes)?;
    }
    Ok(())
}

/// Reads the bytes of one answer. They may come one at a time, but only for a bounded time, as other answers wait
/// behind them.
struct OneAnswer<'a> {
    wire: &'a Wire,
    begun: Option<Instant>,
    most: Duration,
}

impl Read for OneAnswer<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.begun.is_some_and(|begun| begun.elapsed() > self.most) {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "an answer that comes too slowly"));
        }
        let count = { self.wire }.read(bytes)?;
        self.begun.get_or_insert_with(Instant::now);
        Ok(count)
    }
}

struct Reader<'a> {
    silent: Duration,
    peer: &'a PeerNode,
    transcript: Transcript,
    reach: &'a Reach,
    answered: u64,
}

impl Reader<'_> {
    fn read_all(&mut self, wire: &Wire) -> io::Result<()> {
        let (is_other, mut is_proven) = (!wire.connection.is_own(), false);
        loop {
            let accept = if is_proven { Accept::Answers } else { Accept::SmallAnswers };
            let mut answer = OneAnswer { wire, begun: None, most: self.silent };
            let received = receive(&mut answer, accept)?;
            if is_other {
                self.reach.heard();
            }
            self.peer.heard();
            is_proven |= self.take(received, &mut answer)?;
        }
    }

    /// Takes a message of the node, and returns whether it proved that the node knows a job. Returns an error, which
    /// ends the connection, for a message that the protocol does not allow now.
    fn take(&mut self, received: Received, stream: &mut OneAnswer<'_>) -> io::Result<bool> {
        if received.message == Message::Working {
            return self.working(&received).map(|()| false);
        }
        let flight = self.peer.lock().flights.remove(&received.header.id);
        match flight.ok_or_else(|| malformed(Malformed("an answer to nothing")))? {
            Flight::Auth(key) => self.authenticated(key, &received),
            Flight::Ask(call) => {
                let result = self.answer(&call, received, stream);
                let broken = result.as_ref().err().map(|error| io::Error::new(error.kind(), error.to_string()));
                let answer = result.unwrap_or_else(|error| {
                    Err(Refused::new(RefusalReason::Unreachable, format!("{}: {error}", self.peer.host)))
                });
                self.peer.lock().window.give(call.job.payer(), 1);
                let _ = call.reply.send(answer);
                self.peer.changed.notify_all();
                broken.map_or(Ok(false), Err)
            }
        }
    }

    fn working(&mut self, received: &Received) -> io::Result<()> {
        let state = self.peer.lock();
        let Some(Flight::Ask(call)) = state.flights.get(&received.header.id) else {
            return Err(malformed(Malformed("a sign of progress of nothing")));
        };
        let proof = state.proofs.get(&call.job.key).filter(|proof| proof.is_mutual);
        let proof = proof.ok_or_else(|| malformed(Malformed("an answer of a node that proved nothing")))?;
        received.verify(&proof.session, Direction::Answered, self.answered)?;
        self.answered += 1;
        call.signs.seen();
        Ok(())
    }

    fn authenticated(&mut self, key: JobKey, received: &Received) -> io::Result<bool> {
        let mut state = self.peer.lock();
        match &received.message {
            Message::Authenticated { mac } => {
                let proof = state.proofs.get_mut(&key).ok_or_else(|| malformed(Malformed("a proof of no job")))?;
                // A job that is over meanwhile proves nothing, and asks for nothing.
                let Some(job) = proof.job.upgrade() else { return Ok(false) };
                if !is_equal(mac, &self.transcript.answerer_proof(&job.secret, key)) {
                    return Err(malformed(Malformed("a node that does not know the job's secret")));
                }
                proof.is_mutual = true;
                Ok(true)
            }
            Message::Refused(_) => {
                state.proofs.remove(&key);
                Ok(false)
            }
            _ => Err(malformed(Malformed("not an answer to a proof"))),
        }
    }

    fn answer(&mut self, call: &Call, received: Received, stream: &mut OneAnswer<'_>) -> io::Result<CallResult> {
        let key = call.job.key;
        if !received.header.is_tagged() {
            let Message::Refused(refused) = received.message else {
                return Err(malformed(Malformed("an answer without a tag")));
            };
            // The refusal may be from anybody, so it can be believed only as "ask again later".
            self.peer.lock().proofs.remove(&key);
            return Ok(Err(Refused { why: RefusalReason::NotAllowed, ..refused }));
        }
        let session = match self.peer.lock().proofs.get(&key) {
            Some(proof) if proof.is_mutual => Arc::clone(&proof.session),
            _ => return Err(malformed(Malformed("an answer of a node that proved nothing"))),
        };
        received.verify(&session, Direction::Answered, self.answered)?;
        self.answered += 1;
        match (received.message, call.request.ask) {
            // By these reasons another node says that it is in trouble itself; this node is not.
            (Message::Refused(refused), _) if matches!(refused.why, RefusalReason::Here | RefusalReason::Disorder) => {
                Ok(Err(Refused { why: RefusalReason::Sick, ..refused }))
            }
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
