//! Reducers of this node: a Unix socket in each local directory, one request at a time on a connection.

use crate::auth::{is_equal, Transcript};
use crate::budget::Budget;
use crate::jobs::{Job, Jobs};
use crate::link::{greet, malformed, receive, End};
use crate::metrics::Metrics;
use crate::names::JobKey;
use crate::peers::{Answered, Peers};
use crate::wire::{Ask, Malformed, Message, Refusal, Refused, Request, MOST_CHECKSUMS};
use std::io::{self, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const MOST_REDUCERS: u64 = 4096;
const GREETING: Duration = Duration::from_secs(10);
/// How long a reducer may take none of the bytes that it asked for.
const STALLED: Duration = Duration::from_secs(60);

/// The part of the daemon that reducers talk to.
pub struct Local {
    pub jobs: Arc<Jobs>,
    pub peers: Arc<Peers>,
    pub budget: Arc<Budget>,
    pub metrics: Arc<Metrics>,
}

impl Local {
    /// Accepts connections for ever.
    pub fn listen(self: &Arc<Self>, listener: &UnixListener) {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                thread::sleep(Duration::from_millis(100));
                continue;
            };
            if self.metrics.reducers.get() >= MOST_REDUCERS {
                self.metrics.refusals.add(1);
                continue;
            }
            let local = Arc::clone(self);
            local.metrics.reducers.add(1);
            let spawned = thread::Builder::new().name("reducer".to_owned()).spawn(move || {
                let _ = local.serve(stream);
                local.metrics.reducers.subtract(1);
            });
            if spawned.is_err() {
                self.metrics.reducers.subtract(1);
            }
        }
    }

    fn serve(&self, mut stream: UnixStream) -> io::Result<()> {
        let uid = rustix::net::sockopt::socket_peercred(&stream)?.uid.as_raw();
        stream.set_read_timeout(Some(GREETING))?;
        stream.set_write_timeout(Some(STALLED))?;
        let transcript = greet(&mut stream, End::Answerer, String::new())?;
        let Some(job) = self.authenticated(&mut stream, &transcript, uid)? else { return Ok(()) };
        // A reducer is silent while reduce() works; its end closes the socket.
        stream.set_read_timeout(None)?;
        loop {
            let received = match receive(&mut stream) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                other => other?,
            };
            let Message::Ask(request) = received.message else {
                return Err(malformed(Malformed("not a request")));
            };
            if request.map.job != job.key || request.host.is_empty() {
                return Err(malformed(Malformed("a request of another job, or to no host")));
            }
            self.answer(&mut stream, &job, received.header.id, request)?;
        }
    }

    /// Reads the first message, which must prove a job whose tasks run as this user; None if refused.
    fn authenticated(
        &self, stream: &mut UnixStream, transcript: &Transcript, uid: u32,
    ) -> io::Result<Option<Arc<Job>>> {
        let received = receive(stream)?;
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
                (Message::Refused(Refused::new(Refusal::NotAllowed, text)), None)
            }
        };
        stream.write_all(&message.encode(received.header.id, false))?;
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

    fn answer(&self, stream: &mut UnixStream, job: &Arc<Job>, id: u64, request: Request) -> io::Result<()> {
        let bytes = match request.ask {
            Ask::Look { hold, .. } => u64::from(hold) + 4 * u64::from(MOST_CHECKSUMS),
            Ask::Read { length, .. } => u64::from(length),
        };
        // Held until the reducer has taken them.
        let _reserved = self.budget.reserve(bytes);
        match self.peers.call(job, request) {
            Ok(Answered::Looked(looked)) => {
                self.metrics.fetched_bytes.add(looked.held.len() as u64);
                stream.write_all(&Message::Looked(looked).encode(id, false))
            }
            Ok(Answered::Data(data)) => {
                self.metrics.fetched_bytes.add(data.len() as u64);
                stream.write_all(&Message::Data { length: data.len() as u32 }.encode(id, false))?;
                stream.write_all(&data)
            }
            Err(refused) => stream.write_all(&Message::Refused(refused).encode(id, false)),
        }
    }
}
