//! Carries a stream of bytes over an RDMA connection, by messages of up to one buffer.

use crate::door::Shut;
use crate::link::Timed;
use crate::rdma::flow::{Flow, CREDITS, SENDS};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vas_verbs::{RegisteredBuffer, Completion, QueuePair, Woken, BUFFER};

/// How long an end that is dropped waits for its last messages to arrive.
const LAST: Duration = Duration::from_secs(1);

/// One end of an RDMA connection, as a stream of bytes. One thread may read while another writes.
pub struct RdmaLine {
    pub endpoint: QueuePair,
    inbox: Mutex<Inbox>,
    changed: Condvar,
    limits: Mutex<Limits>,
}

#[derive(Clone, Copy, Default)]
struct Limits {
    read: Option<Duration>,
    write: Option<Duration>,
}

struct Inbox {
    flow: Flow,
    arrived: VecDeque<Arrived>,
    /// The buffers to send from that are not under way.
    spare: Vec<RegisteredBuffer>,
    ended: Option<Ended>,
    /// True while a thread waits at the endpoint, on behalf of all.
    is_watched: bool,
}

struct Arrived {
    buffer: RegisteredBuffer,
    at: usize,
    length: usize,
}

enum Ended {
    /// By either end, as streams end.
    Closed,
    Broken(io::ErrorKind, String),
}

impl RdmaLine {
    /// Returns the stream of a new connection. Returns an error if the device takes no buffer.
    pub fn new(endpoint: QueuePair) -> io::Result<Arc<RdmaLine>> {
        let spare = std::iter::from_fn(|| endpoint.buffer()).take(SENDS).collect();
        let inbox = Inbox { flow: Flow::default(), arrived: VecDeque::new(), spare, ended: None, is_watched: false };
        let line = RdmaLine { endpoint, inbox: Mutex::new(inbox), changed: Condvar::new(), limits: Mutex::default() };
        Ok(Arc::new(line))
    }

    /// Gives the device all buffers that receive. To be called before the other end may send.
    pub fn prepare(endpoint: &QueuePair) -> io::Result<()> {
        let mut left = vas_verbs::BUFFERS - SENDS;
        while left > 0 {
            let buffer = endpoint.buffer().ok_or(io::ErrorKind::OutOfMemory)?;
            endpoint.receive(buffer)?;
            left -= 1;
        }
        Ok(())
    }

    /// Sets how long a read and a write may take; None for ever.
    pub fn set_limits(&self, read: Option<Duration>, write: Option<Duration>) {
        *lock(&self.limits) = Limits { read, write };
    }

    /// Reads as a socket does; 0 at the end of the stream.
    pub fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        let limit = lock(&self.limits).read;
        self.when(limit, |inbox| {
            let Some(first) = inbox.arrived.front_mut() else {
                return match &inbox.ended {
                    Some(Ended::Closed) => Ok(Some(0)),
                    other => broken(other.as_ref()).map(|()| None),
                };
            };
            let count = bytes.len().min(first.length - first.at);
            bytes[..count].copy_from_slice(&first.buffer[first.at..first.at + count]);
            first.at += count;
            if first.at == first.length {
                self.consume(inbox)?;
            }
            Ok(Some(count))
        })
    }

    pub fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (part, rest) = bytes.split_at(bytes.len().min(BUFFER));
            self.send(|buffer| {
                buffer[..part.len()].copy_from_slice(part);
                part.len()
            })?;
            bytes = rest;
        }
        Ok(())
    }

    /// Sends `left` bytes of a file, which are read into registered memory. Sends zeros for what cannot be read.
    pub fn send_file(&self, file: &File, mut offset: u64, mut left: usize) -> io::Result<()> {
        while left > 0 {
            let most = left.min(BUFFER);
            self.send(|buffer| {
                let part = &mut buffer[..most];
                let count = read_at(file, part, offset);
                part[count..].fill(0);
                most
            })?;
            offset += most as u64;
            left -= most;
        }
        Ok(())
    }

    /// Sends one message, which `fill` writes; it returns the length.
    fn send(&self, fill: impl FnOnce(&mut [u8]) -> usize) -> io::Result<()> {
        let limit = lock(&self.limits).write;
        let mut buffer = self.when(limit, |inbox| {
            if inbox.ended.is_some() {
                broken(inbox.ended.as_ref())?;
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            Ok(if inbox.flow.may_send() { inbox.spare.pop() } else { None })
        })?;
        let length = fill(&mut buffer);
        let mut inbox = lock(&self.inbox);
        let credits = inbox.flow.sent();
        self.endpoint.send(Some(buffer), length, credits)
    }

    /// Takes the first message away, and gives its buffer to the device again.
    fn consume(&self, inbox: &mut Inbox) -> io::Result<()> {
        let Some(read) = inbox.arrived.pop_front() else { return Ok(()) };
        if inbox.ended.is_some() {
            return Ok(());
        }
        self.endpoint.receive(read.buffer)?;
        match inbox.flow.consumed() {
            Some(credits) => self.endpoint.send(None, 0, credits),
            None => Ok(()),
        }
    }

    /// Waits until `ready` returns something. Returns WouldBlock after the limit.
    fn when<T>(
        &self, limit: Option<Duration>, mut ready: impl FnMut(&mut Inbox) -> io::Result<Option<T>>,
    ) -> io::Result<T> {
        let end = limit.map(|limit| Instant::now() + limit);
        let mut inbox = lock(&self.inbox);
        loop {
            for is_armed in [false, true] {
                if is_armed && inbox.ended.is_none() {
                    self.endpoint.arm()?;
                }
                self.take_all(&mut inbox);
                if let Some(found) = ready(&mut inbox)? {
                    return Ok(found);
                }
            }
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            inbox = self.wait(inbox, left);
        }
    }

    /// Waits at the endpoint, or for the thread that does.
    fn wait<'a>(&'a self, mut inbox: MutexGuard<'a, Inbox>, left: Option<Duration>) -> MutexGuard<'a, Inbox> {
        if inbox.is_watched {
            let left = left.unwrap_or(Duration::from_secs(3600));
            return self.changed.wait_timeout(inbox, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        inbox.is_watched = true;
        drop(inbox);
        let woken = self.endpoint.wait(left);
        let mut inbox = lock(&self.inbox);
        inbox.is_watched = false;
        match woken {
            Ok(Woken::Ended) => {
                // What arrived before is still read.
                self.take_all(&mut inbox);
                inbox.ended.get_or_insert(Ended::Closed);
                self.endpoint.shut();
            }
            Ok(Woken::Completions | Woken::TimedOut) => {}
            Err(error) => {
                inbox.ended.get_or_insert(Ended::Broken(error.kind(), error.to_string()));
            }
        }
        self.changed.notify_all();
        inbox
    }

    /// Takes all sends and receives that have ended.
    fn take_all(&self, inbox: &mut Inbox) {
        while inbox.ended.is_none() {
            let taken = self.endpoint.take().and_then(|done| done.map(|done| self.took(inbox, done)).transpose());
            match taken {
                Ok(Some(())) => self.changed.notify_all(),
                Ok(None) => return,
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => inbox.ended = Some(Ended::Closed),
                Err(error) => inbox.ended = Some(Ended::Broken(error.kind(), error.to_string())),
            }
        }
    }

    fn took(&self, inbox: &mut Inbox, done: Completion) -> io::Result<()> {
        let malformed = |text| Err(io::Error::new(io::ErrorKind::InvalidData, text));
        match done {
            Completion::Sent(buffer) => inbox.spare.extend(buffer),
            Completion::Received { immediate: None, .. } => return malformed("a message without credits"),
            Completion::Received { length: 0, immediate: Some(0), .. } => return malformed("a message of nothing"),
            Completion::Received { buffer, length, immediate: Some(credits) } => {
                inbox.flow.returned(credits)?;
                if length == 0 {
                    return self.endpoint.receive(buffer);
                }
                inbox.arrived.push_back(Arrived { buffer, at: 0, length });
                if inbox.arrived.len() > CREDITS as usize {
                    return malformed("more messages than credits");
                }
            }
        }
        Ok(())
    }
}

impl Shut for RdmaLine {
    fn shut(&self) {
        self.endpoint.shut();
    }
}

impl Timed for RdmaLine {
    fn limit(&self, time: Option<Duration>) -> io::Result<()> {
        self.set_limits(time, time);
        Ok(())
    }
}

impl Drop for RdmaLine {
    fn drop(&mut self) {
        // Messages that the other end has not confirmed are lost with the queue pair.
        let _ = self.when(Some(LAST), |inbox| Ok((inbox.ended.is_some() || inbox.spare.len() == SENDS).then_some(())));
    }
}

fn broken(ended: Option<&Ended>) -> io::Result<()> {
    match ended {
        Some(Ended::Broken(kind, text)) => Err(io::Error::new(*kind, text.clone())),
        _ => Ok(()),
    }
}

fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> usize {
    let mut count = 0;
    while count < bytes.len() {
        match file.read_at(&mut bytes[count..], offset + count as u64) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    count
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
