//! MOFSupplier: reads the disks of this node for the daemons of other nodes.
//!
//! Each connection has a thread that reads requests and one that sends answers (`served`). Between these two stand
//! the threads of the disks: they take requests in the order of `groups`, and bring their bytes into the page cache,
//! while the sending threads hand earlier bytes from there to the socket (sendfile).

use crate::budget::{MemoryBudget, Reserved};
use crate::connection::Connection;
use crate::door::{Door, Limits, Shut};
use crate::groups::{Range, ReadGroups};
use crate::jobs::{Job, ServedJobs};
use crate::look::SegmentLook;
use crate::metrics::Metrics;
use crate::names::{JobKey, MapAttemptId};
use crate::outputs::{refused_by, Output, Outputs};
use crate::auth::SessionKey;
use crate::pace::Pace;
use crate::rdma::{self, RdmaListener};
use crate::reach::Reach;
use crate::shares::Payer;
use crate::sockets::wait_after;
use crate::transport::Transports;
use crate::version::VersionNotes;
use crate::wire::{Ask, Message, RefusalReason, Refused};
use rustix::fs::Advice;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, TcpListener};
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Most connections of other nodes. A node has one, unless it starts again, and an address may have several nodes.
const LIMITS: Limits = Limits { unproven: 512, unproven_of_one: 64, proven: 1024, proven_of_one: 8 };
/// Most connections by RDMA. Fewer have registered memory than there is, so that whoever comes next finds some.
const RDMA_LIMITS: Limits = Limits { unproven: 32, unproven_of_one: 16, proven: 216, proven_of_one: 8 };
const _: () = assert!(RDMA_LIMITS.unproven + RDMA_LIMITS.proven < rdma::MOST);
const THREADS_OF_A_DEVICE: usize = 2;
/// Most devices that have threads of their own: more than a node has local directories.
const MOST_DEVICES: usize = 64;
/// Most requests that wait for one device: one that hangs answers none.
const MOST_WAITING: usize = 65_536;
/// Bytes of the stack of a thread that serves one connection. There are many such threads.
pub const STACK: usize = 512 << 10;

/// The part of the daemon that other nodes talk to.
pub struct Supplier {
    pub jobs: Arc<ServedJobs>,
    pub outputs: Arc<Outputs>,
    pub metrics: Arc<Metrics>,
    pub reach: Arc<Reach>,
    pub pace: Pace,
    pub transports: Transports,
    /// The memory of answers to looks, each from the first step of its look until it is sent.
    answers: Arc<MemoryBudget>,
    door: Arc<Door<IpAddr>>,
    rdma_door: Arc<Door<IpAddr>>,
    disks: Mutex<BTreeMap<u64, Arc<DiskQueue>>>,
    versions: VersionNotes,
}

/// The requests that wait for one device, and the progress of the device.
#[derive(Default)]
pub struct DiskQueue {
    groups: Mutex<ReadGroups<JobKey, MapAttemptId, Work>>,
    added: Condvar,
    progress: AtomicU64,
    waiting: AtomicUsize,
}

/// A request that waits for its disk.
pub struct Work {
    pub payer: Payer,
    pub output: Arc<Output>,
    pub task: Task,
    pub id: u64,
    /// The key of the answer's tag; None where the answer goes to a reducer of this node, without a connection.
    pub session: Option<Arc<SessionKey>>,
    pub link: SyncSender<QueuedAnswer>,
    reserved: Option<Reserved>,
}

/// The reads that a request needs of its disk.
pub enum Task {
    Look(Box<SegmentLook>),
    /// A range of the file: offset and length, in bytes.
    Read(u64, u32),
}

/// An answer that waits to be sent on its connection.
pub struct QueuedAnswer {
    pub id: u64,
    pub message: Message,
    pub session: Option<Arc<SessionKey>>,
    /// The output, and the offset in its file, of the bytes that follow the message; None if no bytes do.
    pub bytes: Option<(Arc<Output>, u64)>,
    _reserved: Option<Reserved>,
}

impl QueuedAnswer {
    pub fn new(id: u64, message: Message, session: Option<Arc<SessionKey>>) -> QueuedAnswer {
        QueuedAnswer { id, message, session, bytes: None, _reserved: None }
    }
}

impl DiskQueue {
    /// Returns the device's progress number, which changes whenever the device has done something.
    pub fn progress(&self) -> u64 {
        self.progress.load(Ordering::Relaxed)
    }

    fn advance(&self) {
        self.progress.fetch_add(1, Ordering::Relaxed);
    }

    fn groups(&self) -> MutexGuard<'_, ReadGroups<JobKey, MapAttemptId, Work>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, work: Work) {
        let (offset, length) = work.range();
        let (job, file) = (work.payer.job, work.output.name);
        self.groups().add(job, file, Range { offset, length, ticket: work });
        self.added.notify_one();
    }

    fn take(&self) -> Vec<Range<Work>> {
        let mut groups = self.groups();
        loop {
            let batch = groups.take();
            if !batch.is_empty() {
                return batch;
            }
            groups = self.added.wait(groups).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Work {
    /// Returns the work for a question about a partition's segment. Refuses if the segment does not have the range
    /// that is asked for, or is too large. `answer` has the request's number, the key of the answer's tag, and where
    /// the answer goes.
    pub fn new(
        payer: Payer, output: Arc<Output>, partition: u32, ask: Ask,
        answer: (u64, Option<Arc<SessionKey>>, SyncSender<QueuedAnswer>),
    ) -> Result<Work, Refused> {
        let task = match ask {
            Ask::Look { hold, verify, .. } => {
                Task::Look(Box::new(SegmentLook::new(Arc::clone(&output), partition, hold, verify)?))
            }
            Ask::Read { offset, length } => {
                let part = output.part(partition)?;
                match offset.checked_add(u64::from(length)) {
                    Some(end) if length > 0 && end <= part.stored_bytes => Task::Read(part.start + offset, length),
                    _ => return Err(Refused::new(RefusalReason::TooMuch, "a piece that the segment does not have")),
                }
            }
        };
        let (id, session, link) = answer;
        Ok(Work { payer, output, task, id, session, link, reserved: None })
    }

    fn range(&self) -> (u64, u64) {
        match &self.task {
            Task::Look(look) => look.next(),
            Task::Read(offset, length) => (*offset, u64::from(*length)),
        }
    }
}

impl Supplier {
    /// Returns the part of the daemon that serves. The threads of a disk start with the first request to it.
    ///
    /// `answers` is how many bytes of answers to looks may wait for slow connections.
    pub fn new(
        jobs: Arc<ServedJobs>, outputs: Arc<Outputs>, metrics: Arc<Metrics>, reach: Arc<Reach>, answers: u64,
        pace: Pace, transports: Transports,
    ) -> Arc<Supplier> {
        let (answers, door, rdma_door) = (MemoryBudget::new(answers), Door::new(LIMITS), Door::new(RDMA_LIMITS));
        let (disks, versions) = (Mutex::default(), VersionNotes::default());
        Arc::new(Supplier { jobs, outputs, metrics, reach, pace, transports, answers, door, rdma_door, disks, versions })
    }

    /// Accepts connections of other nodes for ever, and serves each in a thread of its own.
    pub fn listen(self: &Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            let stream = match stream {
                Ok(stream) => stream,
                Err(error) => {
                    wait_after(&error);
                    continue;
                }
            };
            self.serve(Connection::Tcp(Arc::new(stream)), &self.door);
        }
    }

    /// Accepts RDMA connections of other nodes for ever, as `listen` does.
    pub fn listen_rdma(self: &Arc<Self>, listener: &RdmaListener) {
        loop {
            match listener.next() {
                Ok(request) => match rdma::accept(request) {
                    Ok(line) => {
                        self.metrics.rdma_links.add(1);
                        self.serve(Connection::Rdma(line), &self.rdma_door);
                    }
                    Err(_) => self.metrics.broken_links.add(1),
                },
                Err(error) => wait_after(&error),
            }
        }
    }

    fn serve(self: &Arc<Self>, connection: Connection, door: &Arc<Door<IpAddr>>) {
        let Ok(address) = connection.peer_addr() else { return };
        let admission = door.enter(address.ip().to_canonical(), Arc::new(connection.clone()) as _);
        let supplier = Arc::clone(self);
        supplier.metrics.peers_in.add(1);
        let spawned = thread::Builder::new().name("peer-in".to_owned()).stack_size(STACK).spawn(move || {
            if let Err(error) = crate::served::serve(&supplier, &connection, &admission) {
                connection.shut();
                supplier.metrics.broken_links.add(1);
                let line = supplier.versions.line(address.ip().to_canonical(), &error);
                line.iter().for_each(|line| eprintln!("{line}"));
            }
            supplier.metrics.peers_in.subtract(1);
        });
        if spawned.is_err() {
            self.metrics.peers_in.subtract(1);
        }
    }

    /// Returns the open output of a map attempt. If the job ends while the output is being opened, closes the output
    /// and refuses: it would stay open, with its bytes on the disk, or be there for another user of the job's number.
    pub fn output(&self, job: &Job, map: MapAttemptId) -> Result<Arc<Output>, Refused> {
        let output = self.outputs.get(job, map)?;
        if self.jobs.serves(job) {
            return Ok(output);
        }
        self.outputs.forget_job(job.key);
        Err(Refused::new(RefusalReason::NotAllowed, "the job is over here"))
    }

    /// Returns the queue of a device, by the kernel's number of it, and starts the device's threads at the first
    /// call. Returns an error if there are too many devices, or no thread can be started.
    pub fn disk(self: &Arc<Self>, device: u64) -> io::Result<Arc<DiskQueue>> {
        let mut disks = self.disks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(disk) = disks.get(&device) {
            return Ok(Arc::clone(disk));
        }
        if disks.len() >= MOST_DEVICES {
            return Err(io::Error::other("more devices than a node has local directories"));
        }
        let disk = Arc::new(DiskQueue::default());
        for number in 0..THREADS_OF_A_DEVICE {
            let (supplier, disk) = (Arc::clone(self), Arc::clone(&disk));
            let name = format!("disk-{device}-{number}");
            thread::Builder::new().name(name).spawn(move || supplier.read_device(&disk))?;
        }
        disks.insert(device, Arc::clone(&disk));
        Ok(disk)
    }

    pub fn submit(&self, disk: &DiskQueue, work: Work) -> Result<(), Refused> {
        if disk.waiting.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING {
            disk.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(Refused::new(RefusalReason::Sick, format!("{}: its disk does not keep up", work.output.name)));
        }
        self.metrics.queued.add(1);
        disk.add(work);
        Ok(())
    }

    fn read_device(&self, disk: &DiskQueue) {
        loop {
            let batch = disk.take();
            self.metrics.joined_reads.add(1);
            self.read_batch(disk, batch);
        }
    }

    fn read_batch(&self, disk: &DiskQueue, batch: Vec<Range<Work>>) {
        if let (Some(first), Some(end)) = (batch.first(), batch.iter().map(|r| r.offset + r.length).max()) {
            // This is advice only: where the kernel does not take it, the reads below bring the bytes. With a length
            // of 0 it would be about the rest of the file.
            if let length @ Some(_) = NonZeroU64::new(end - first.offset) {
                let _ = rustix::fs::fadvise(&first.ticket.output.file, first.offset, length, Advice::WillNeed);
            }
        }
        for range in batch {
            let mut work = range.ticket;
            let result = self.step(disk, &mut work);
            disk.advance();
            let (link, answer) = match result {
                Ok(false) => {
                    disk.add(work);
                    continue;
                }
                Ok(true) => self.answer(work),
                Err(refused) => self.refused(work, refused),
            };
            self.metrics.queued.subtract(1);
            disk.waiting.fetch_sub(1, Ordering::Relaxed);
            // A connection that ended takes no answer, and needs none.
            let _ = link.send(answer);
        }
    }

    /// Does one step of a request, and returns whether that was the last. Refuses if the disk fails, or too many
    /// answers wait to be sent.
    fn step(&self, disk: &DiskQueue, work: &mut Work) -> Result<bool, Refused> {
        match &mut work.task {
            Task::Look(look) => {
                if work.reserved.is_none() {
                    self.metrics.looks.add(1);
                    let busy = || Refused::new(RefusalReason::Busy, "too many answers to job or user wait to be sent");
                    let reserved = self.answers.reserve(work.payer, look.memory(), Duration::ZERO);
                    work.reserved = Some(reserved.ok_or_else(busy)?);
                }
                look.step(&|| {
                    disk.advance();
                    (self.pace.block)();
                })
            }
            Task::Read(offset, length) => {
                self.metrics.reads.add(1);
                // Once the last byte is in the page cache, so are all before it, as far as the disk keeps their
                // order.
                let at = *offset + u64::from(*length).saturating_sub(1);
                let read = work.output.file.read_exact_at(&mut [0], at);
                read.map(|()| true).map_err(|error| refused_by(error, work.output.name))
            }
        }
    }

    fn answer(&self, mut work: Work) -> (SyncSender<QueuedAnswer>, QueuedAnswer) {
        let reserved = work.reserved.take();
        let (message, bytes) = match work.task {
            Task::Look(look) => match look.finish() {
                Ok(looked) => (Message::Looked(looked), None),
                Err(refused) => return self.refuse(work.output.name, work.id, refused, work.session, work.link),
            },
            Task::Read(offset, length) => (Message::Data { length }, Some((work.output, offset))),
        };
        (work.link, QueuedAnswer { id: work.id, message, session: work.session, bytes, _reserved: reserved })
    }

    fn refused(&self, work: Work, refused: Refused) -> (SyncSender<QueuedAnswer>, QueuedAnswer) {
        self.refuse(work.output.name, work.id, refused, work.session, work.link)
    }

    fn refuse(
        &self, name: MapAttemptId, id: u64, refused: Refused, session: Option<Arc<SessionKey>>,
        link: SyncSender<QueuedAnswer>,
    ) -> (SyncSender<QueuedAnswer>, QueuedAnswer) {
        self.metrics.refusals.add(1);
        if refused.why != RefusalReason::Busy {
            self.outputs.forget(|other| other == name);
        }
        (link, QueuedAnswer::new(id, Message::Refused(refused), session))
    }
}

#[cfg(test)]
#[path = "supplier_tests.rs"]
mod tests;
