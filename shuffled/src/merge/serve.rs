//! Serves one connection of a reducer that is for a merge: takes the request and the segments, merges them in the
//! connection's own thread, and sends the stream.

use crate::jobs::Job;
use crate::link::{malformed, Until};
use crate::merge::codec::DecodedWindows;
use crate::merge::fetch::{MergeContext, SegmentFetch};
use crate::merge::memory::{MergeBudget, MergeMemory};
use crate::merge::output::MergedBlocks;
use crate::merge::records::{MergeFailure, SegmentRecords, END_MARKER};
use crate::merge::tournament::{FailedSegment, MergedTotals, Tournament};
use crate::merge::wire::{body_length, merged, merging, ready, ExpectedMessage, MergeRequest, SegmentWords};
use crate::metrics::Metrics;
use crate::pace::Pace;
use crate::peers::Peers;
use crate::wire::{Malformed, Message, RefusalReason, Refused, HEADER};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// How long a reducer may take to say what is to be merged.
const REQUEST: Duration = Duration::from_secs(60);

/// The pause before memory that others have is asked for again.
const AGAIN: Duration = Duration::from_secs(1);

/// The part of the daemon that merges.
pub struct Merges {
    peers: Arc<Peers>,
    budget: Arc<MergeBudget>,
    metrics: Arc<Metrics>,
    pace: Pace,
}

impl Merges {
    pub fn new(peers: Arc<Peers>, budget: Arc<MergeBudget>, metrics: Arc<Metrics>, pace: Pace) -> Merges {
        Merges { peers, budget, metrics, pace }
    }

    /// Serves a connection that has proved the job, until its one merge has ended. Returns an error if the reducer
    /// goes away, takes nothing, or sends what the protocol does not allow.
    pub fn serve(&self, stream: &UnixStream, job: &Weak<Job>) -> io::Result<()> {
        self.metrics.merges.add(1);
        let result = self.answer(stream, job);
        self.metrics.merges.subtract(1);
        let refused = match result {
            Ok(None) => return Ok(()),
            Ok(Some((id, refused))) => (id, refused),
            Err(error) => {
                self.metrics.merges_refused.add(1);
                return Err(error);
            }
        };
        self.metrics.merges_refused.add(1);
        send(stream, &Message::Refused(refused.1).encode(refused.0, false), self.pace.unread)
    }

    /// Answers the one request; returns the refusal to send, with the request's number, unless all is sent.
    fn answer(&self, stream: &UnixStream, weak: &Weak<Job>) -> io::Result<Option<(u64, Refused)>> {
        let mut early = Until { stream, end: Instant::now() + REQUEST };
        let (body, id) = read(&mut early, ExpectedMessage::Merge)?;
        let request = MergeRequest::decode(&body).map_err(malformed)?;
        let Some(job) = weak.upgrade() else { return Err(malformed(Malformed("the job is over, or has other words"))) };
        if request.job != job.key {
            return Err(malformed(Malformed("a merge of another job")));
        }
        let refused = |refused| Ok(Some((id, refused)));
        if request.sealed && !self.peers.transports.is_sealed() {
            let why = "the job demands TLS, and this node's daemon has none";
            return refused(Refused::new(RefusalReason::TooMuch, why));
        }
        let patience = Patience::of(stream, id, &request, self.pace.unread);
        let mut memory = match patience.until(|| self.budget.begin(job.payer(), &request))? {
            Ok(memory) => memory,
            Err(why) => return refused(why),
        };
        drop(job);
        let mut early = Until { stream, end: Instant::now() + REQUEST };
        early.write_all(&ready(id))?;
        let segments = segments(&mut early, &request, id)?;
        if let Err(why) = check(&request, &segments) {
            return refused(why);
        }
        let window = match patience.until(|| memory.windows(&segments, request.codec))? {
            Ok(window) => window,
            Err(why) => return refused(why),
        };
        send(stream, &merging(id), self.pace.unread)?;
        Ok(self.merge(stream, weak, (id, &request, &segments), (window, memory))?.map(|refused| (id, refused)))
    }

    fn merge(
        &self, stream: &UnixStream, job: &Weak<Job>, of: (u64, &MergeRequest, &[SegmentWords]),
        by: (u64, MergeMemory),
    ) -> io::Result<Option<Refused>> {
        let (id, request, segments) = of;
        let (window_bytes, memory) = by;
        let gone = Cell::new(false);
        let progress = || {
            gone.set(gone.get() || working(stream, id, self.pace.unread).is_err());
            !gone.get()
        };
        let context = MergeContext {
            peers: &self.peers, job, request, window_bytes, progress: &progress, telling: self.pace.telling,
            told: Cell::new(Instant::now()), memory: RefCell::new(memory),
        };
        let mut blocks = MergedBlocks::new(stream, id, request.skip, self.pace.unread);
        let totals = {
            let inputs = segments.iter().map(|words| {
                let stored = SegmentFetch::new(&context, words);
                let raw = DecodedWindows::new(stored, request.codec, words);
                SegmentRecords::new(raw, request.order, words.raw_bytes)
            });
            let mut tournament = Tournament::new(inputs.collect(), request.order);
            match tournament.run(&mut |bytes| blocks.put(bytes)) {
                Ok(totals) => totals,
                Err(FailedSegment { why: MergeFailure::Sink(error), .. }) => return Err(error),
                Err(_) if gone.get() => return Err(io::Error::other("the reducer went away")),
                Err(FailedSegment { input, why }) => {
                    // The records before it are right, so that the reducer may have them.
                    blocks.flush()?;
                    return Ok(Some(refusal(&tournament, input, why)));
                }
            }
        };
        self.end(stream, id, totals, (segments, blocks)).map(|()| None)
    }

    fn end(
        &self, stream: &UnixStream, id: u64, totals: MergedTotals, of: (&[SegmentWords], MergedBlocks<'_>),
    ) -> io::Result<()> {
        let (segments, mut blocks) = of;
        if totals.bytes != record_bytes(segments) {
            // Each segment was compared with its own number, so this cannot be.
            return Err(io::Error::other("a merge of fewer or more bytes than its segments have"));
        }
        blocks.put(&[0xff; END_MARKER as usize])?;
        blocks.flush()?;
        self.metrics.merged_bytes.add(blocks.sent);
        send(stream, &merged(id, totals.records, totals.bytes), self.pace.unread)
    }
}

/// How long a reducer that has a part of the stream waits for memory to go on: others may have what was its own.
struct Patience<'a> {
    stream: &'a UnixStream,
    id: u64,
    unread: Duration,
    end: Instant,
}

impl<'a> Patience<'a> {
    fn of(stream: &'a UnixStream, id: u64, request: &MergeRequest, unread: Duration) -> Patience<'a> {
        let millis = if request.skip > 0 { request.patience } else { 0 };
        Patience { stream, id, unread, end: Instant::now() + Duration::from_millis(u64::from(millis)) }
    }

    /// Tries again while a share of memory is used up, and tells the reducer so. An error if it went away.
    fn until<T>(&self, mut attempt: impl FnMut() -> Result<T, Refused>) -> io::Result<Result<T, Refused>> {
        loop {
            match attempt() {
                Err(refused) if refused.why == RefusalReason::Busy && Instant::now() < self.end => {
                    working(self.stream, self.id, self.unread)?;
                    thread::sleep(AGAIN);
                }
                done => return Ok(done),
            }
        }
    }
}

/// Refuses segments of impossible sizes, a map that is named twice, and more bytes to skip than there are.
fn check(request: &MergeRequest, segments: &[SegmentWords]) -> Result<(), Refused> {
    let mut maps = HashSet::with_capacity(segments.len());
    for each in segments {
        let fault = match each {
            _ if !request.codec.fits(each) => "stored and raw bytes do not fit",
            _ if !maps.insert(each.map) => "the map is named twice",
            _ => continue,
        };
        let why = format!("attempt {} of map {}: {fault}", each.attempt, each.map);
        return Err(Refused::new(RefusalReason::TooMuch, why));
    }
    if request.skip > record_bytes(segments).saturating_add(END_MARKER) {
        return Err(Refused::new(RefusalReason::TooMuch, "more bytes to skip than the merge has"));
    }
    Ok(())
}

/// Returns the bytes of all records. The sizes are what the reducer says.
fn record_bytes(segments: &[SegmentWords]) -> u64 {
    segments.iter().fold(0, |sum, each| sum.saturating_add(each.raw_bytes - END_MARKER))
}

fn refusal(
    tournament: &Tournament<DecodedWindows<SegmentFetch<'_>>>, input: usize, why: MergeFailure<Refused>,
) -> Refused {
    let name = tournament.inputs()[input].windows().source().name();
    match why {
        MergeFailure::Bad(what) => Refused::new(RefusalReason::Damaged, format!("{name}: {what}")),
        MergeFailure::Disorder(number) => {
            let why = format!("record {number} of {name} sorts before the one before it");
            Refused::new(RefusalReason::Disorder, why)
        }
        MergeFailure::Fetch(Refused { why, text }) if !text.contains(&name.to_string()) => {
            Refused::new(why, format!("{name}: {text}"))
        }
        MergeFailure::Fetch(refused) => refused,
        MergeFailure::Sink(error) => Refused::new(RefusalReason::Here, error),
    }
}

fn segments(
    early: &mut Until<'_, UnixStream>, request: &MergeRequest, id: u64,
) -> io::Result<Vec<SegmentWords>> {
    let (mut left, mut segments) = (request.checksums, Vec::new());
    for _ in 0..request.segments {
        let (body, number) = read(early, ExpectedMessage::Segment(left))?;
        let words = SegmentWords::decode(&body).map_err(malformed)?;
        let Some(rest) = left.checked_sub(words.checksums.len() as u32).filter(|_| number == id) else {
            return Err(malformed(Malformed("more checksums than were said, or another request's")));
        };
        left = rest;
        segments.push(words);
    }
    Ok(segments)
}

fn read(stream: &mut impl Read, expected: ExpectedMessage) -> io::Result<(Vec<u8>, u64)> {
    let mut header = [0; HEADER];
    stream.read_exact(&mut header)?;
    let (length, id) = body_length(&header, expected).map_err(malformed)?;
    let mut body = vec![0; length as usize];
    stream.read_exact(&mut body)?;
    Ok((body, id))
}

fn working(stream: &UnixStream, id: u64, patience: Duration) -> io::Result<()> {
    send(stream, &Message::Working.encode(id, false), patience)
}

fn send(stream: &UnixStream, bytes: &[u8], patience: Duration) -> io::Result<()> {
    Until { stream, end: Instant::now() + patience }.write_all(bytes)
}
