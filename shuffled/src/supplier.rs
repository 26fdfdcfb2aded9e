//! MOFSupplier: serves the outputs of this node to the daemons of other nodes.
//!
//! Each connection has a thread that reads requests and one that sends answers. Between them stand the
//! threads of the disks: they take requests in the order of `groups`, and bring their bytes into the
//! page cache, while the sending threads hand earlier bytes from there to the socket (sendfile).

use crate::auth::{is_equal, Session, Transcript, Way};
use crate::groups::{Groups, Range};
use crate::jobs::{Job, Jobs};
use crate::link::{greet, malformed, receive, sealed, End, Received};
use crate::metrics::Metrics;
use crate::names::{JobKey, MapAttempt};
use crate::outputs::{Output, Outputs};
use crate::peers::plain;
use crate::wire::{Ask, Malformed, Message, Refusal, Refused, Request};
use rustix::fs::Advice;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Requests of one connection that may be on their way.
pub const WINDOW: usize = 16;
const MOST_CONNECTIONS: u64 = 1024;
const MOST_JOBS_OF_A_CONNECTION: usize = 1024;
const THREADS_OF_A_DEVICE: usize = 2;
const GREETING: Duration = Duration::from_secs(10);
/// How long a peer may take nothing, or be silent. Its daemon connects again when it has to.
const STALLED: Duration = Duration::from_secs(60);
const SILENT: Duration = Duration::from_secs(900);

/// The part of the daemon that other nodes talk to.
pub struct Supplier {
    pub jobs: Arc<Jobs>,
    pub outputs: Arc<Outputs>,
    pub metrics: Arc<Metrics>,
    disks: BTreeMap<u64, Disk>,
}

#[derive(Default)]
struct Disk {
    groups: Mutex<Groups<MapAttempt, Work>>,
    added: Condvar,
}

/// A request that waits for its disk.
struct Work {
    output: Arc<Output>,
    partition: u32,
    ask: Ask,
    id: u64,
    session: Arc<Session>,
    link: SyncSender<Answer>,
}

/// An answer that waits for its connection.
struct Answer {
    id: u64,
    message: Message,
    session: Option<Arc<Session>>,
    bytes: Option<(Arc<Output>, u64)>,
}

impl Supplier {
    /// Starts the threads of the disks, which live as long as the process.
    pub fn start(jobs: Arc<Jobs>, outputs: Arc<Outputs>, metrics: Arc<Metrics>) -> io::Result<Arc<Supplier>> {
        let disks = outputs.devices()?.into_iter().map(|device| (device, Disk::default())).collect();
        let supplier = Arc::new(Supplier { jobs, outputs, metrics, disks });
        for device in supplier.disks.keys().copied() {
            for number in 0..THREADS_OF_A_DEVICE {
                let supplier = Arc::clone(&supplier);
                let name = format!("disk-{device}-{number}");
                thread::Builder::new().name(name).spawn(move || supplier.read_device(device))?;
            }
        }
        Ok(supplier)
    }

    /// Accepts connections for ever.
    pub fn listen(self: &Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // Out of descriptors, most likely: others have to end first.
                thread::sleep(Duration::from_millis(100));
                continue;
            };
            if self.metrics.peers_in.get() >= MOST_CONNECTIONS {
                self.metrics.refusals.add(1);
                continue;
            }
            let supplier = Arc::clone(self);
            supplier.metrics.peers_in.add(1);
            let spawned = thread::Builder::new().name("peer-in".to_owned()).spawn(move || {
                if serve(&supplier, stream).is_err() {
                    supplier.metrics.broken_links.add(1);
                }
                supplier.metrics.peers_in.subtract(1);
            });
            if spawned.is_err() {
                self.metrics.peers_in.subtract(1);
            }
        }
    }

    fn submit(&self, work: Work) -> Result<(), Box<(Work, Refused)>> {
        let (offset, length) = match where_is(&work) {
            Ok(place) => place,
            Err(refused) => return Err(Box::new((work, refused))),
        };
        let Some(disk) = self.disks.get(&work.output.device) else {
            let refused = Refused::new(Refusal::Sick, "a local directory on a device of its own");
            return Err(Box::new((work, refused)));
        };
        self.metrics.queued.add(1);
        let file = work.output.name;
        disk.groups.lock().unwrap_or_else(PoisonError::into_inner).add(file, Range { offset, length, ticket: work });
        disk.added.notify_one();
        Ok(())
    }

    fn read_device(&self, device: u64) {
        let Some(disk) = self.disks.get(&device) else { return };
        loop {
            let mut groups = disk.groups.lock().unwrap_or_else(PoisonError::into_inner);
            let mut batch = groups.take();
            while batch.is_empty() {
                groups = disk.added.wait(groups).unwrap_or_else(PoisonError::into_inner);
                batch = groups.take();
            }
            drop(groups);
            self.metrics.queued.subtract(batch.len() as u64);
            self.metrics.joined_reads.add(1);
            self.read_batch(batch);
        }
    }

    fn read_batch(&self, batch: Vec<Range<Work>>) {
        if let (Some(first), Some(end)) = (batch.first(), batch.iter().map(|r| r.offset + r.length).max()) {
            let length = std::num::NonZeroU64::new(end - first.offset);
            // Advice only: where it is not taken, the reads below bring the bytes.
            let _ = rustix::fs::fadvise(&first.ticket.output.file, first.offset, length, Advice::WillNeed);
        }
        for range in batch {
            let answer = self.answer(&range);
            // A connection that ended takes no answer, and needs none.
            let _ = range.ticket.link.send(answer);
        }
    }

    fn answer(&self, range: &Range<Work>) -> Answer {
        let Work { output, partition, ask, id, session, .. } = &range.ticket;
        let result = match *ask {
            Ask::Look { hold, verify } => {
                self.metrics.looks.add(1);
                output.look(*partition, hold, verify).map(|looked| (Message::Looked(looked), None))
            }
            Ask::Read { length, .. } => {
                self.metrics.reads.add(1);
                // The last byte is there when all before it are, as far as the disk's order goes.
                let mut last = [0];
                let at = range.offset + range.length.saturating_sub(1);
                output.file.read_exact_at(&mut last, at)
                    .map_err(|error| crate::outputs::refused_by(error, output.name))
                    .map(|()| (Message::Data { length }, Some((Arc::clone(output), range.offset))))
            }
        };
        let (message, bytes) = result.unwrap_or_else(|refused| {
            self.metrics.refusals.add(1);
            let name = output.name;
            self.outputs.forget(|other| other == name);
            (Message::Refused(refused), None)
        });
        Answer { id: *id, message, session: Some(Arc::clone(session)), bytes }
    }
}

/// Returns offset and length in the file of what is asked for.
fn where_is(work: &Work) -> Result<(u64, u64), Refused> {
    let part = work.output.part(work.partition)?;
    match work.ask {
        Ask::Look { .. } => Ok((part.start, part.stored_bytes)),
        Ask::Read { offset, length } => match offset.checked_add(u64::from(length)) {
            Some(end) if length > 0 && end <= part.stored_bytes => Ok((part.start + offset, u64::from(length))),
            _ => Err(Refused::new(Refusal::TooMuch, "a piece that the segment does not have")),
        },
    }
}

/// What one connection has proved, and how much of it is on its way.
struct Served<'a> {
    supplier: &'a Supplier,
    transcript: Transcript,
    jobs: HashMap<JobKey, (Arc<Job>, Arc<Session>)>,
    link: SyncSender<Answer>,
    waiting: Arc<AtomicUsize>,
    asked: u64,
}

fn serve(supplier: &Arc<Supplier>, mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(GREETING))?;
    stream.set_write_timeout(Some(STALLED))?;
    let ends = format!("{} {}", plain(stream.peer_addr()?), plain(stream.local_addr()?));
    let transcript = greet(&mut stream, End::Answerer, ends)?;
    stream.set_read_timeout(Some(SILENT))?;
    // Room for every answer that may be on its way, so that no disk ever waits for a connection.
    let (link, answers) = sync_channel(2 * WINDOW + 2);
    let waiting = Arc::new(AtomicUsize::new(0));
    let sender = {
        let (stream, waiting, metrics) = (stream.try_clone()?, Arc::clone(&waiting), Arc::clone(&supplier.metrics));
        thread::Builder::new().name("peer-in-send".to_owned()).spawn(move || {
            let _ = send_all(&stream, &answers, &waiting, &metrics);
            let _ = stream.shutdown(Shutdown::Both);
        })?
    };
    let mut served = Served { supplier, transcript, jobs: HashMap::new(), link, waiting, asked: 0 };
    let result = loop {
        match receive(&mut stream) {
            Ok(received) => {
                if let Err(error) = served.take(received) {
                    break Err(error);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    if result.is_err() {
        let _ = stream.shutdown(Shutdown::Both);
    }
    drop(served);
    let _ = sender.join();
    result
}

impl Served<'_> {
    fn take(&mut self, received: Received) -> io::Result<()> {
        // Answered ones leave only when they are sent: a peer that takes none may not ask for more.
        if self.waiting.fetch_add(1, Ordering::AcqRel) > 2 * WINDOW {
            return Err(malformed(Malformed("more requests than the window allows")));
        }
        match received.message {
            Message::Auth { job, mac } => self.authenticate(received.header.id, job, &mac),
            Message::Ask(ref request) => self.ask(&received, request),
            _ => Err(malformed(Malformed("an answer where a request belongs"))),
        }
    }

    fn authenticate(&mut self, id: u64, key: JobKey, mac: &[u8]) -> io::Result<()> {
        let Some(job) = self.supplier.jobs.get(key) else { return self.refuse(id, "the job is not known here") };
        if !is_equal(mac, &self.transcript.asker_proof(&job.secret, key)) {
            return self.refuse(id, "the proof is wrong");
        }
        if self.jobs.len() >= MOST_JOBS_OF_A_CONNECTION {
            self.jobs.retain(|known, _| self.supplier.jobs.get(*known).is_some());
        }
        if self.jobs.len() >= MOST_JOBS_OF_A_CONNECTION {
            return self.refuse(id, "too many jobs on one connection");
        }
        let session = Arc::new(self.transcript.session(&job.secret, key));
        let message = Message::Authenticated { mac: self.transcript.answerer_proof(&job.secret, key) };
        self.jobs.insert(key, (job, session));
        self.send(Answer { id, message, session: None, bytes: None })
    }

    fn ask(&mut self, received: &Received, request: &Request) -> io::Result<()> {
        let id = received.header.id;
        let key = request.map.job;
        let Some((job, session)) = self.jobs.get(&key).map(|(job, session)| (Arc::clone(job), Arc::clone(session))) else {
            // Its place is taken all the same: the asker counted it.
            self.asked += 1;
            return self.refuse(id, "the job was not proved on this connection");
        };
        received.verify(&session, Way::Asked, self.asked)?;
        self.asked += 1;
        // A job that is over, or was told anew with another secret, has no rights from before.
        if self.supplier.jobs.get(key).is_none_or(|now| !Arc::ptr_eq(&now, &job)) {
            self.jobs.remove(&key);
            return self.refuse(id, "the job is over here");
        }
        let Request { map, partition, ask, .. } = *request;
        let refused = match self.supplier.outputs.get(&job, map) {
            Ok(output) => {
                let work = Work { output, partition, ask, id, session: Arc::clone(&session), link: self.link.clone() };
                match self.supplier.submit(work) {
                    Ok(()) => return Ok(()),
                    Err(failed) => failed.1,
                }
            }
            Err(refused) => refused,
        };
        self.supplier.metrics.refusals.add(1);
        self.send(Answer { id, message: Message::Refused(refused), session: Some(session), bytes: None })
    }

    fn refuse(&mut self, id: u64, text: &str) -> io::Result<()> {
        self.supplier.metrics.refusals.add(1);
        let message = Message::Refused(Refused::new(Refusal::NotAllowed, text));
        self.send(Answer { id, message, session: None, bytes: None })
    }

    fn send(&self, answer: Answer) -> io::Result<()> {
        self.link.send(answer).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

fn send_all(
    mut stream: &TcpStream, answers: &Receiver<Answer>, waiting: &AtomicUsize, metrics: &Metrics,
) -> io::Result<()> {
    let mut place = 0;
    for answer in answers {
        let bytes = match &answer.session {
            Some(session) => {
                place += 1;
                sealed(&answer.message, answer.id, session, Way::Answered, place - 1)
            }
            None => answer.message.encode(answer.id, false),
        };
        stream.write_all(&bytes)?;
        if let (Message::Data { length }, Some((output, offset))) = (&answer.message, &answer.bytes) {
            send_file(stream, output, *offset, *length as usize)?;
            metrics.served_bytes.add(u64::from(*length));
        }
        waiting.fetch_sub(1, Ordering::AcqRel);
    }
    Ok(())
}

fn send_file(stream: &TcpStream, output: &Output, mut offset: u64, mut left: usize) -> io::Result<()> {
    while left > 0 {
        match rustix::fs::sendfile(stream, &output.file, Some(&mut offset), left) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => left -= count,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
