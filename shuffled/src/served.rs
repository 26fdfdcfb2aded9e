//! Serves one connection of another node's daemon: takes its proofs of jobs and its requests, and sends each answer
//! as soon as it is ready.

use crate::auth::{is_equal, Direction, SessionKey, Transcript};
use crate::connection::Connection;
use crate::door::{Admission, Shut};
use crate::jobs::Job;
use crate::link::{greet, malformed, receive, sealed, LinkRole, Received, Until};
use crate::names::JobKey;
use crate::transport::Wire;
use crate::supplier::{DiskQueue, QueuedAnswer, Supplier, Work, STACK};
use crate::wire::{Accept, Malformed, Message, RefusalReason, Refused, Request, MAC};
use std::collections::HashMap;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// Most requests that one connection may have in flight. Jobs and users have fair shares of them, so a job that is
/// alone has half.
pub const WINDOW: usize = 32;
/// Most messages of one connection that are not answered yet: each request may have a proof before it.
const MOST_WAITING: usize = 2 * WINDOW;
/// Most messages that a connection may send before its first right proof.
const MOST_UNPROVEN: usize = 16;
const MOST_JOBS: usize = 1024;
/// How long another node's daemon may send nothing before its connection ends. It connects again when it has a
/// request.
const SILENT: Duration = Duration::from_secs(900);

/// A job that a connection has proved. The reference to it is weak: the secret lives no longer than the NodeManager
/// says.
struct Proven {
    job: Weak<Job>,
    session: Arc<SessionKey>,
}

/// The receiving half of one connection: the jobs that it has proved, and its messages that are not answered yet.
struct Served<'a> {
    supplier: &'a Arc<Supplier>,
    admission: &'a Admission<IpAddr>,
    transcript: Transcript,
    jobs: HashMap<JobKey, Proven>,
    link: SyncSender<QueuedAnswer>,
    flow: Arc<Mutex<Flow>>,
    asked: u64,
}

/// The messages of one connection that are not answered yet. The thread that receives and the one that sends share
/// them.
#[derive(Default)]
struct Flow {
    messages: usize,
    pending: HashMap<u64, Pending>,
    /// True once the connection has ended. Its sending thread stops then, and waits for no disk that still owes an
    /// answer.
    is_over: bool,
}

/// A request that waits for a disk, with the disk's progress number that the asker was last told of.
struct Pending {
    disk: Arc<DiskQueue>,
    session: Arc<SessionKey>,
    told: u64,
}

/// Serves a connection of another node until it ends. Returns an error of the socket or the handshake, or for a
/// message that the protocol does not allow.
pub fn serve(supplier: &Arc<Supplier>, connection: &Connection, admission: &Admission<IpAddr>) -> io::Result<()> {
    let end = Instant::now() + supplier.pace.proof;
    connection.begin(end, LinkRole::Answerer)?;
    let wire = Arc::new(supplier.transports.answerer(connection, end)?);
    let ends = format!("{} {}{}", plain(connection.peer_addr()?), plain(connection.local_addr()?), wire.binding());
    let mut early = Until { stream: &*wire, end };
    let transcript = greet(&mut early, LinkRole::Answerer, ends)?;
    // The queue has room for every answer of the connection, so that no disk ever waits for it.
    let (link, answers) = sync_channel(MOST_WAITING + 2);
    let flow = Arc::default();
    let mut served =
        Served { supplier, admission, transcript, jobs: HashMap::new(), link, flow: Arc::clone(&flow), asked: 0 };
    served.first_proof(&mut early, &answers)?;
    connection.limits(SILENT, supplier.pace.stalled)?;
    let sender = {
        let (wire, supplier) = (Arc::clone(&wire), Arc::clone(supplier));
        thread::Builder::new().name("peer-in-send".to_owned()).stack_size(STACK).spawn(move || {
            let _ = Sender { wire: &wire, flow: &flow, supplier: &supplier, place: 0 }.send_all(&answers);
            wire.connection.shut();
        })?
    };
    let result = served.take_all(&wire);
    if result.is_err() {
        connection.shut();
    }
    lock(&served.flow).is_over = true;
    drop(served);
    let _ = sender.join();
    result
}

/// Returns `ADDRESS:PORT` as both ends of a connection spell it: an IPv4 address that is mapped into IPv6 as IPv4.
pub fn plain(address: SocketAddr) -> String {
    let ip: IpAddr = address.ip().to_canonical();
    format!("{ip}:{}", address.port())
}

impl Served<'_> {
    /// Takes messages until one of them proves a job, and sends the refusals of those before it: no sending thread
    /// runs yet. Returns an error after `MOST_UNPROVEN` messages.
    fn first_proof(&mut self, early: &mut Until<'_, Wire>, answers: &Receiver<QueuedAnswer>) -> io::Result<()> {
        for _ in 0..MOST_UNPROVEN {
            let received = receive(early, Accept::Requests)?;
            self.take(received)?;
            if !self.jobs.is_empty() {
                return Ok(());
            }
            for answer in answers.try_iter() {
                lock(&self.flow).messages -= 1;
                early.write_all(&answer.message.encode(answer.id, false))?;
            }
        }
        Err(malformed(Malformed("many messages, and no proof")))
    }

    fn take_all(&mut self, wire: &Wire) -> io::Result<()> {
        let is_other = !wire.connection.is_own();
        loop {
            match receive(&mut &*wire, Accept::Requests) {
                Ok(received) => {
                    if is_other {
                        self.supplier.reach.heard();
                    }
                    self.take(received)?;
                }
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, received: Received) -> io::Result<()> {
        {
            // A message counts until its answer is sent: a peer that reads no answers may not ask for more.
            let mut flow = lock(&self.flow);
            flow.messages += 1;
            if flow.messages > MOST_WAITING {
                return Err(malformed(Malformed("more requests than the window allows")));
            }
        }
        match received.message {
            Message::Auth { job, mac } => self.authenticate(received.header.id, job, &mac),
            Message::Ask(ref request) => self.ask(&received, request),
            _ => Err(malformed(Malformed("an answer where a request belongs"))),
        }
    }

    fn authenticate(&mut self, id: u64, key: JobKey, mac: &[u8; MAC]) -> io::Result<()> {
        let Some(job) = self.supplier.jobs.get(key) else { return self.refuse(id, "the job is not known here") };
        if !is_equal(mac, &self.transcript.asker_proof(&job.secret, key)) {
            return self.refuse(id, "the proof is wrong");
        }
        self.jobs.retain(|_, proven| proven.job.strong_count() > 0);
        if self.jobs.len() >= MOST_JOBS {
            return self.refuse(id, "too many jobs on one connection");
        }
        if !self.admission.proved(self.jobs.keys().copied().chain([key]).collect()) {
            return Err(malformed(Malformed("ended for other connections")));
        }
        let session = Arc::new(self.transcript.session(&job.secret, key));
        let message = Message::Authenticated { mac: self.transcript.answerer_proof(&job.secret, key) };
        self.jobs.insert(key, Proven { job: Arc::downgrade(&job), session });
        self.send(QueuedAnswer::new(id, message, None))
    }

    fn ask(&mut self, received: &Received, request: &Request) -> io::Result<()> {
        let id = received.header.id;
        let key = request.map.job;
        let Some(proven) = self.jobs.get(&key) else {
            // The request has a place among the tagged messages all the same: the asker counted it.
            self.asked += 1;
            return self.refuse(id, "the job was not proved on this connection");
        };
        let session = Arc::clone(&proven.session);
        received.verify(&session, Direction::Asked, self.asked)?;
        self.asked += 1;
        // A job that is over, or was announced again with another secret, has no rights from before.
        let now = self.supplier.jobs.get(key);
        let Some(job) = now.filter(|now| std::ptr::eq(Arc::as_ptr(now), proven.job.as_ptr())) else {
            self.jobs.remove(&key);
            return self.refuse(id, "the job is over here");
        };
        if let Err(refused) = self.submit(&job, id, request, &session) {
            self.supplier.metrics.refusals.add(1);
            return self.send(QueuedAnswer::new(id, Message::Refused(refused), Some(session)));
        }
        Ok(())
    }

    fn submit(&self, job: &Job, id: u64, request: &Request, session: &Arc<SessionKey>) -> Result<(), Refused> {
        let output = self.supplier.output(job, request.map)?;
        let sick = |error: io::Error| Refused::new(RefusalReason::Sick, format!("{}: {error}", request.map));
        let disk = self.supplier.disk(output.device).map_err(sick)?;
        let answer = (id, Some(Arc::clone(session)), self.link.clone());
        let work = Work::new(job.payer(), output, request.partition, request.ask, answer)?;
        let pending = Pending { disk: Arc::clone(&disk), session: Arc::clone(session), told: disk.progress() };
        lock(&self.flow).pending.insert(id, pending);
        let submitted = self.supplier.submit(&disk, work);
        if submitted.is_err() {
            lock(&self.flow).pending.remove(&id);
        }
        submitted
    }

    fn refuse(&mut self, id: u64, text: &str) -> io::Result<()> {
        self.supplier.metrics.refusals.add(1);
        self.send(QueuedAnswer::new(id, Message::Refused(Refused::new(RefusalReason::NotAllowed, text)), None))
    }

    fn send(&self, answer: QueuedAnswer) -> io::Result<()> {
        self.link.send(answer).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

fn lock(flow: &Mutex<Flow>) -> MutexGuard<'_, Flow> {
    flow.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The sending half of one connection: sends answers and signs of progress, in a thread of its own.
struct Sender<'a> {
    wire: &'a Wire,
    flow: &'a Mutex<Flow>,
    supplier: &'a Supplier,
    place: u64,
}

impl Sender<'_> {
    fn send_all(&mut self, answers: &Receiver<QueuedAnswer>) -> io::Result<()> {
        let tick = self.supplier.pace.tick;
        let mut told = Instant::now();
        loop {
            match answers.recv_timeout(tick.saturating_sub(told.elapsed())) {
                Ok(answer) => self.send(answer)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if lock(self.flow).is_over {
                return Ok(());
            }
            if told.elapsed() >= tick {
                told = Instant::now();
                self.tell_progress()?;
            }
        }
    }

    fn send(&mut self, answer: QueuedAnswer) -> io::Result<()> {
        lock(self.flow).pending.remove(&answer.id);
        let bytes = self.sealed(&answer.message, answer.id, answer.session.as_deref());
        { self.wire }.write_all(&bytes)?;
        if let (Message::Data { length }, Some((output, offset))) = (&answer.message, &answer.bytes) {
            self.wire.send_file(&output.file, *offset, *length as usize)?;
            self.supplier.metrics.served_bytes.add(u64::from(*length));
        }
        lock(self.flow).messages -= 1;
        Ok(())
    }

    fn sealed(&mut self, message: &Message, id: u64, session: Option<&SessionKey>) -> Vec<u8> {
        let Some(session) = session else { return message.encode(id, false) };
        self.place += 1;
        sealed(message, id, session, Direction::Answered, self.place - 1)
    }

    /// Sends WORKING for each request whose disk has made progress since the last one; nothing for a disk that hangs.
    fn tell_progress(&mut self) -> io::Result<()> {
        let mut moving = Vec::new();
        for (id, pending) in &mut lock(self.flow).pending {
            let now = pending.disk.progress();
            if now != pending.told {
                pending.told = now;
                moving.push((*id, Arc::clone(&pending.session)));
            }
        }
        for (id, session) in moving {
            let bytes = self.sealed(&Message::Working, id, Some(&session));
            { self.wire }.write_all(&bytes)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::Outputs;
    use crate::transport::Transports;
    use crate::testing::site::{attempt, job, own_uid, Site};
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_file_that_became_shorter_leaves_the_frame_whole() {
        let site = Site::new();
        site.write(0, &[vec![3; 100_000]]);
        let output = Outputs::new(&site.local_dirs(), Arc::default()).get(&job(b"s", own_uid()), attempt(0)).unwrap();
        std::fs::OpenOptions::new().write(true).open(site.output(0, 0).join("file.out")).unwrap().set_len(10).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut reading = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (sending, _) = listener.accept().unwrap();
        let sending = Arc::new(sending);
        let wire = Transports::Plain.answerer(&sending, Instant::now()).unwrap();
        wire.send_file(&output.file, 0, 50_000).unwrap();
        drop((wire, sending));
        let mut bytes = Vec::new();
        reading.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, [vec![3; 10], vec![0; 49_990]].concat());
    }
}
