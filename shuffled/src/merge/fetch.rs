//! Fetches the windows of one segment of a merge: while one is merged, the next is on its way. Each 64 KiB is compared
//! with its checksum before a byte of it is used.

use crate::jobs::Job;
use crate::merge::memory::MergeMemory;
use crate::merge::records::SegmentWindows;
use crate::merge::wire::{MergeRequest, SegmentWords};
use crate::names::MapAttemptId;
use crate::peers::{Answered, Asked, Peers};
use crate::wire::{Ask, RefusalReason, Refused, Request, CHECKSUM_BYTES};
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// The first pause before a node that does not answer is asked again; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// A wait for a connection after which the reducer is told that there is progress.
const LONG_WAIT: Duration = Duration::from_secs(1);
/// The first try may find out only that a connection is dead, which says nothing of the node behind it.
const FEWEST_TRIES: u32 = 2;

/// The parts of the daemon, the request and the memory that all segments of one merge share.
pub struct MergeContext<'a> {
    pub peers: &'a Arc<Peers>,
    /// The secret lives no longer than the NodeManager says.
    pub job: &'a Weak<Job>,
    pub request: &'a MergeRequest,
    pub window_bytes: u64,
    /// Tells the reducer of progress; false if it went away.
    pub progress: &'a dyn Fn() -> bool,
    /// How often the reducer is told, and when it was last.
    pub telling: Duration,
    pub told: Cell<Instant>,
    pub memory: RefCell<MergeMemory>,
}

impl MergeContext<'_> {
    /// Tells the reducer of progress, unless it was told of late. That also finds out whether it is still there, where
    /// nothing is sent to it for long: behind bytes that it has already, and before the first record.
    fn tell(&self) -> Result<(), Refused> {
        if self.told.get().elapsed() < self.telling {
            return Ok(());
        }
        self.told.set(Instant::now());
        if (self.progress)() { Ok(()) } else { Err(gone()) }
    }
}

fn gone() -> Refused {
    Refused::new(RefusalReason::Here, "the reducer went away")
}

/// The bytes of one segment, of which at most two windows are here or on their way.
pub struct SegmentFetch<'a> {
    context: &'a MergeContext<'a>,
    words: &'a SegmentWords,
    asked: u64,
    pending: Option<Pending>,
}

/// A window that was asked for, and the answer or the reason why there is no way to get one.
struct Pending {
    offset: u64,
    length: u32,
    asked: Result<Asked, Refused>,
}

impl<'a> SegmentFetch<'a> {
    /// Begins to fetch a segment.
    pub fn new(context: &'a MergeContext<'a>, words: &'a SegmentWords) -> SegmentFetch<'a> {
        let mut fetch = SegmentFetch { context, words, asked: 0, pending: None };
        fetch.ask_next();
        fetch
    }

    /// Returns the map attempt that wrote the segment.
    pub fn name(&self) -> MapAttemptId {
        MapAttemptId { job: self.context.request.job, map: self.words.map, attempt: self.words.attempt }
    }

    fn ask_next(&mut self) {
        let length = self.context.window_bytes.min(self.words.stored_bytes - self.asked) as u32;
        if length > 0 {
            let offset = self.asked;
            self.pending = Some(Pending { offset, length, asked: self.ask(offset, length) });
            self.asked += u64::from(length);
        }
    }

    fn ask(&self, offset: u64, length: u32) -> Result<Asked, Refused> {
        let Some(job) = self.context.job.upgrade() else {
            return Err(Refused::new(RefusalReason::NotAllowed, "the job is over, or has other words"));
        };
        let (partition, host) = (self.context.request.partition, self.words.host.clone());
        let (ask, begun) = (Ask::Read { offset, length }, Instant::now());
        let asked = self.context.peers.ask(&job, &Request { map: self.name(), partition, ask, host });
        // It may have waited for a connection.
        if begun.elapsed() > LONG_WAIT && !(self.context.progress)() {
            return Err(gone());
        }
        asked
    }

    /// Waits for a window. Where its node does not answer, or says that it is busy, asks again until the job's patience
    /// ends.
    fn wait(&self, pending: Pending) -> Result<Vec<u8>, Refused> {
        let Pending { offset, length, mut asked } = pending;
        let end = Instant::now() + Duration::from_millis(u64::from(self.context.request.patience));
        let (mut tries, mut pause) = (1, FIRST_PAUSE);
        loop {
            let mut progress = || (self.context.progress)();
            let refused = match asked.and_then(|asked| self.context.peers.wait(&asked, &mut progress)) {
                Ok(Answered::Data(bytes)) if bytes.len() == length as usize => return Ok(bytes),
                Ok(_) => Refused::new(RefusalReason::Sick, "an answer to something else"),
                Err(refused) => refused,
            };
            use RefusalReason::{Busy, Here, NotAllowed, Unreachable};
            let passes = matches!(refused.why, Busy | Here | NotAllowed | Unreachable);
            let is_over = self.context.job.strong_count() == 0;
            if !passes || is_over || (tries >= FEWEST_TRIES && Instant::now() >= end) || !(self.context.progress)() {
                return Err(refused);
            }
            thread::sleep(pause);
            (tries, pause) = (tries + 1, LONGEST_PAUSE.min(2 * pause));
            asked = self.ask(offset, length);
        }
    }

    fn verify(&self, offset: u64, bytes: &[u8]) -> Result<(), Refused> {
        let first = (offset / CHECKSUM_BYTES) as usize;
        for (number, block) in bytes.chunks(CHECKSUM_BYTES as usize).enumerate() {
            if self.words.checksums.get(first + number) != Some(&crc32c::crc32c(block)) {
                let at = offset + number as u64 * CHECKSUM_BYTES;
                return Err(Refused::new(RefusalReason::Damaged, format!("wrong checksum at offset {at}")));
            }
        }
        Ok(())
    }
}

impl SegmentWindows for SegmentFetch<'_> {
    type Error = Refused;

    fn next(&mut self) -> Result<Option<Vec<u8>>, Refused> {
        let Some(pending) = self.pending.take() else { return Ok(None) };
        let offset = pending.offset;
        self.context.tell()?;
        let bytes = self.wait(pending)?;
        self.verify(offset, &bytes)?;
        self.ask_next();
        Ok(Some(bytes))
    }

    fn grow(&mut self, from: usize, to: usize) -> Result<(), Refused> {
        self.context.memory.borrow_mut().grow(from as u64, to as u64)
    }
}
