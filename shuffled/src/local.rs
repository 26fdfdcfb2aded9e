//! Serves the reducers of this node, by a Unix socket in each local directory. A connection has one request at a
//! time, or is for one merge.

use crate::auth::{is_equal, Transcript};
use crate::budget::{MemoryBudget, Reserved};
use crate::door::{Admission, Door, Limits};
use crate::jobs::{Job, ServedJobs};
use crate::link::{greet_reducer, malformed, receive, Until};
use crate::merge::memory::MergeBudget;
use crate::merge::serve::Merges;
use crate::metrics::Metrics;
use crate::names::JobKey;
use crate::pace::Pace;
use crate::peers::{Answered, Peers};
use crate::sockets::wait_after;
use crate::supplier::STACK;
use crate::wire::{Accept, Ask, Malformed, Message, RefusalReason, Refused, Request};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

const LIMITS: Limits = Limits { unproven: 1024, unproven_of_one: 512, proven: 4096, proven_of_one: 4096 };
/// The text of the refusal for a job that demands TLS where this daemon has none.
const PLAIN: &str = "the job demands TLS (mapreduce.shuffle.ssl.enabled), and this node's vas-shuffled has none: set \
    vas.shuffled.tls.certificate, .key and .authorities in the NodeManagers' configuration";
/// How long a reducer may take to read one answer.
const STALLED: Duration = Duration::from_secs(60);
/// How long a request waits for memory while none is given back: longer than a slow reducer may hold some.
const MEMORY: Duration = Duration::from_secs(90);
/// Bytes that are reserved for a segment's checksums before their number is known: those of 512 MiB. More are
/// reserved when the answer has more.
const USUAL_CHECKSUMS: u64 = 32 << 10;

/// The part of the daemon that reducers talk to.
pub struct Local {
    jobs: Arc<ServedJobs>,
    peers: Arc<Peers>,
    budget: Arc<MemoryBudget>,
    metrics: Arc<Metrics>,
    pace: Pace,
    door: Arc<Door<u32>>,
    merges: Merges,
}

impl Local {
    pub fn new(
        jobs: Arc<ServedJobs>, peers: Arc<Peers>, budget: Arc<MemoryBudget>, metrics: Arc<Metrics>, pace: Pace,
    ) -> Arc<Local> {
        let of_merges = MergeBudget::new(Arc::clone(&budget));
        let merges = Merges::new(Arc::clone(&peers), of_merges, Arc::clone(&metrics), pace);
        Arc::new(Local { jobs, peers, budget, metrics, pace, door: Door::new(LIMITS), merges })
    }

    /// Accepts reducers' connections for ever, and serves each in a thread of its own.
    pub fn listen(self: &Arc<Self>, listener: &UnixListener) {
        for stream in listener.incoming() {
            let stream = match stream {
                Ok(stream) => stream,
                Err(error) => {
                    wait_after(&error);
                    continue;
                }
            };
            let Ok(peer) = rustix::net::sockopt::socket_peercred(&stream) else { continue };
            let (uid, stream) = (peer.uid.as_raw(), Arc::new(stream));
            let admission = self.door.enter(uid, Arc::clone(&stream) as _);
            let local = Arc::clone(self);
            local.metrics.reducers.add(1);
            let spawned = thread::Builder::new().name("reducer".to_owned()).stack_size(STACK).spawn(move || {
                let _ = local.serve(&stream, &admission, uid);
                local.metrics.reducers.subtract(1);
            });
            if spawned.is_err() {
                self.metrics.reducers.subtract(1);
            }
        }
    }

    fn serve(&self, stream: &UnixStream, admission: &Admission<u32>, uid: u32) -> io::Result<()> {
        let mut early = Until { stream, end: Instant::now() + self.pace.proof };
        let (transcript, is_merge) = greet_reducer(&mut early)?;
        let Some(job) = self.authenticated(&mut early, &transcript, uid)? else { return Ok(()) };
        if !admission.proved(BTreeSet::from([job.key])) {
            return Ok(());
        }
        // A reducer is silent while reduce() works; its end closes the socket. The secret lives no longer
        // than the NodeManager says.
        let (key, weak) = (job.key, Arc::downgrade(&job));
        drop(job);
        if is_merge {
            return self.merges.serve(stream, &weak);
        }
        loop {
            stream.set_read_timeout(None)?;
            let received = match receive(&mut &*stream, Accept::Requests) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                other => other?,
            };
            let Message::Ask(request) = received.message else {
                return Err(malformed(Malformed("not a request")));
            };
            if request.map.job != key || request.host.is_empty() {
                return Err(malformed(Malformed("a request of another job, or to no host")));
            }
            self.answer(stream, &weak, received.header.id, request)?;
        }
    }

    /// Reads a connection's first message, and answers it. The message must prove a job whose tasks run as this user:
    /// returns None if the proof is refused, and an error if the message is not a proof.
    fn authenticated(
        &self, early: &mut Until<'_, UnixStream>, transcript: &Transcript, uid: u32,
    ) -> io::Result<Option<Arc<Job>>> {
        let received = receive(early, Accept::Requests)?;
        let Message::Auth { job: key, mac } = received.message else {
            return Err(malformed(Malformed("not a proof")));
        };
        let (message, job) = match self.proved(transcript, key, &mac, uid) {
            Ok(job) => {
                let mac = transcript.answerer_proof(&job.secret, key);
                (Message::Authenticated { mac }, Some(job))
            }
            Err(text) => {
                self.metrics.refusals.add(1);
                (Message::Refused(Refused::new(RefusalReason::NotAllowed, text)), None)
            }
        };
        early.write_all(&message.encode(received.header.id, false))?;
        Ok(job)
    }

    fn proved(&self, transcript: &Transcript, key: JobKey, mac: &[u8], uid: u32) -> Result<Arc<Job>, &'static str> {
        let job = self.jobs.get(key).ok_or("the job is not known on this node")?;
        if job.uid != uid {
            return Err("another user's job");
        }
        if !is_equal(mac, &transcript.asker_proof(&job.secret, key)) {
            return Err("the proof is wrong");
        }
        Ok(job)
    }

    fn answer(&self, stream: &UnixStream, job: &Weak<Job>, id: u64, request: Request) -> io::Result<()> {
        let send = |message: Message, data: &[u8]| {
            let mut out = Until { stream, end: Instant::now() + STALLED };
            out.write_all(&message.encode(id, false))?;
            out.write_all(data)
        };
        let Some(job) = job.upgrade() else { return Err(malformed(Malformed("the job is over, or has other words"))) };
        let mut progress = || send(Message::Working, &[]).is_ok();
        let full = || {
            Refused::new(RefusalReason::Here, "this node's daemon has no memory left for this job or its user")
        };
        if matches!(request.ask, Ask::Look { sealed: true, .. }) && !self.peers.transports.is_sealed() {
            return send(Message::Refused(Refused::new(RefusalReason::TooMuch, PLAIN)), &[]);
        }
        let bytes = match request.ask {
            Ask::Look { hold, .. } => u64::from(hold) + USUAL_CHECKSUMS,
            Ask::Read { length, .. } => u64::from(length),
        };
        // The memory is held until the reducer has read the answer.
        let Some(_reserved) = self.memory(&job, bytes, &mut progress) else {
            return send(Message::Refused(full()), &[]);
        };
        match self.peers.call(&job, request, &mut progress) {
            Ok(Answered::Looked(looked)) => {
                let all = looked.held.len() as u64 + 4 * looked.checksums.len() as u64;
                let Some(_more) = self.memory(&job, all.saturating_sub(bytes), &mut progress) else {
                    return send(Message::Refused(full()), &[]);
                };
                self.metrics.fetched_bytes.add(looked.held.len() as u64);
                send(Message::Looked(looked), &[])
            }
            Ok(Answered::Data(data)) => {
                self.metrics.fetched_bytes.add(data.len() as u64);
                send(Message::Data { length: data.len() as u32 }, &data)
            }
            Err(refused) => send(Message::Refused(refused), &[]),
        }
    }

    /// Reserves bytes of memory, and waits for them as long as other requests give some back. Returns None when none
    /// was given back for `MEMORY`, or when `progress` finds that the reducer is gone.
    fn memory(&self, job: &Job, bytes: u64, progress: &mut dyn FnMut() -> bool) -> Option<Reserved> {
        let (mut given, mut moved) = (self.budget.given(), Instant::now());
        loop {
            if let Some(reserved) = self.budget.reserve(job.payer(), bytes, self.pace.tick) {
                return Some(reserved);
            }
            let now = self.budget.given();
            if now != given {
                (given, moved) = (now, Instant::now());
                if !progress() {
                    return None;
                }
            } else if moved.elapsed() >= MEMORY {
                return None;
            }
        }
    }
}
