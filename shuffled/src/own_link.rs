//! Answers this node's reducers from this node's own outputs, without a connection. All else is as for other nodes:
//! requests wait in the same queue, files are opened by the same checks, and the same threads read the disks.

use crate::jobs::Job;
use crate::peer_link::Flight;
use crate::peers::{Answered, Call, PeerNode};
use crate::outputs::{refused_by, Output};
use crate::reach::{is_local, Failed};
use crate::served::WINDOW;
use crate::supplier::{DiskQueue, QueuedAnswer, Supplier, Work, STACK};
use crate::wire::{Message, RefusalReason, Refused, Request};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The supplier of this process, and the address where other nodes reach it.
pub struct Own {
    pub supplier: Arc<Supplier>,
    pub listens: SocketAddr,
}

/// The requests that wait for a disk, by number, with the disk's progress number when it was last read.
type Pending = Mutex<HashMap<u64, (Arc<DiskQueue>, u64)>>;

/// The state that two threads share: one submits requests, the other takes their answers.
struct OwnLink {
    peer: Arc<PeerNode>,
    supplier: Arc<Supplier>,
    pending: Pending,
}

impl Own {
    /// Returns whether a connection to this address and port would be accepted by this very process.
    pub fn is_at(&self, address: &SocketAddr) -> bool {
        let (here, there) = (self.listens.ip(), address.ip().to_canonical());
        let is_served = match here.is_unspecified() {
            // `[::]` takes IPv4 too.
            true => here.is_ipv6() || there.is_ipv4(),
            false => here.to_canonical() == there,
        };
        address.port() == self.listens.port() && is_served && is_local(there)
    }

    /// Answers the requests that wait for `peer`, which is this node, until the link ends. `tick` is how often
    /// progress is noted. Returns an error if no thread can be started.
    pub fn run(&self, peer: &Arc<PeerNode>, tick: Duration) -> Result<(), Failed> {
        // The queue has room for every answer of the link, so that no disk ever waits for it.
        let (link, answers) = sync_channel(WINDOW + 1);
        let own = Arc::new(OwnLink {
            peer: Arc::clone(peer),
            supplier: Arc::clone(&self.supplier),
            pending: Mutex::default(),
        });
        let answering = Arc::clone(&own);
        let started = thread::Builder::new().name("own-answers".to_owned()).stack_size(STACK).spawn(move || {
            answering.answer_all(&answers, tick);
        });
        started.map_err(|error| Failed { why: RefusalReason::Here, text: error.to_string() })?;
        let mut id = 0;
        while let Some(call) = peer.next() {
            own.ask(id, call, &link);
            id += 1;
        }
        Ok(())
    }
}

impl OwnLink {
    fn ask(&self, id: u64, call: Call, link: &SyncSender<QueuedAnswer>) {
        call.signs.seen();
        let (job, request) = (Arc::clone(&call.job), call.request.clone());
        let mut state = self.peer.lock();
        if let Some(refused) = &state.failed {
            let _ = call.reply.send(Err(refused.clone()));
            return;
        }
        state.flights.insert(id, Flight::Ask(call));
        drop(state);
        let submitted = self.submit(id, &job, &request, link);
        if let Err(refused) = submitted {
            self.supplier.metrics.refusals.add(1);
            self.reply(id, Err(refused));
        }
    }

    fn submit(&self, id: u64, job: &Job, request: &Request, link: &SyncSender<QueuedAnswer>) -> Result<(), Refused> {
        if !self.supplier.jobs.serves(job) {
            return Err(Refused::new(RefusalReason::NotAllowed, "the job is over here"));
        }
        let output = self.supplier.output(job, request.map)?;
        let sick = |error: std::io::Error| Refused::new(RefusalReason::Sick, format!("{}: {error}", request.map));
        let disk = self.supplier.disk(output.device).map_err(sick)?;
        let work = Work::new(job.payer(), output, request.partition, request.ask, (id, None, link.clone()))?;
        self.pending().insert(id, (Arc::clone(&disk), disk.progress()));
        self.supplier.submit(&disk, work)
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<u64, (Arc<DiskQueue>, u64)>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer_all(&self, answers: &Receiver<QueuedAnswer>, tick: Duration) {
        loop {
            match answers.recv_timeout(tick) {
                Ok(answer) => {
                    let id = answer.id;
                    let answered = self.answered(answer);
                    self.reply(id, answered);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.peer.lock().failed.is_some() {
                return;
            }
            self.see_progress();
        }
    }

    fn answered(&self, answer: QueuedAnswer) -> Result<Answered, Refused> {
        match (answer.message, answer.bytes) {
            (Message::Looked(looked), _) => Ok(Answered::Looked(looked)),
            (Message::Data { length }, Some((output, offset))) => {
                let bytes = read(&output, offset, length)?;
                self.supplier.metrics.own_bytes.add(u64::from(length));
                Ok(Answered::Data(bytes))
            }
            (Message::Refused(refused), _) => Err(refused),
            _ => Err(Refused::new(RefusalReason::Here, "an answer to something else")),
        }
    }

    fn reply(&self, id: u64, answer: Result<Answered, Refused>) {
        self.pending().remove(&id);
        let mut state = self.peer.lock();
        let Some(Flight::Ask(call)) = state.flights.remove(&id) else { return };
        state.window.give(call.job.payer(), 1);
        drop(state);
        self.peer.heard();
        let _ = call.reply.send(answer);
        self.peer.changed.notify_all();
    }

    /// Notes a sign of progress for each request whose disk has made some since the previous call; none for a disk
    /// that hangs.
    fn see_progress(&self) {
        let mut moved = Vec::new();
        for (id, (disk, seen)) in self.pending().iter_mut() {
            let now = disk.progress();
            if now != *seen {
                *seen = now;
                moved.push(*id);
            }
        }
        if moved.is_empty() {
            return;
        }
        self.peer.heard();
        let state = self.peer.lock();
        for flight in moved.iter().filter_map(|id| state.flights.get(id)) {
            if let Flight::Ask(call) = flight {
                call.signs.seen();
            }
        }
    }
}

fn read(output: &Output, offset: u64, length: u32) -> Result<Vec<u8>, Refused> {
    let mut bytes = vec![0; length as usize];
    output.file.read_exact_at(&mut bytes, offset).map_err(|error| refused_by(error, output.name))?;
    Ok(bytes)
}
