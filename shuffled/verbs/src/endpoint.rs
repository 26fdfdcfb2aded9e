//! One end of a connection: its queue pair, and the buffers that the device has.

use crate::cm::{unblock, wait_for, Identity};
use crate::library::{checked, made};
use crate::pool::{RegisteredBuffer, Pool, BUFFER, BUFFERS};
use crate::sys::{
    CompChannel, Context, Cq, Qp, QpInitAttr, RecvWr, SendWr, Sge, Wc, ESTABLISHED, QPT_RC, SEND_SIGNALED,
    WC_RETRY_EXC_ERR, WC_SUCCESS, WC_WITH_IMM, WC_WR_FLUSH_ERR, WR_SEND_WITH_IMM,
};
use rustix::event::{eventfd, EventfdFlags, PollFd, PollFlags};
use std::ffi::c_int;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most sends and receives that a connection has under way: a buffer each, and messages without bytes.
const FLIGHTS: usize = 2 * BUFFERS;

/// A send or a receive that has ended.
pub enum Completion {
    /// The other end has the message. None of a message without bytes.
    Sent(Option<RegisteredBuffer>),
    Received { buffer: RegisteredBuffer, length: usize, immediate: Option<u32> },
}

/// The reason why a wait ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Woken {
    /// A completion may be there.
    Completions,
    /// The other end, or `shut`, ended the connection.
    Ended,
    TimedOut,
}

enum Flight {
    Send(Option<RegisteredBuffer>),
    Receive(RegisteredBuffer),
}

/// One end of a connection. Any thread may call any method, but one at a time may `wait`.
pub struct QueuePair {
    identity: Identity,
    cq: *mut Cq,
    completions: *mut CompChannel,
    /// The sends and receives that the device has, by number.
    flights: Mutex<Vec<Option<Flight>>>,
    /// The buffers that nobody has asked for yet.
    fresh: Mutex<Vec<RegisteredBuffer>>,
    bell: OwnedFd,
    is_shut: AtomicBool,
}

// SAFETY: verbs of libibverbs and librdmacm may be called by any thread at once, as their manuals say.
unsafe impl Send for QueuePair {}
// SAFETY: as above.
unsafe impl Sync for QueuePair {}

impl QueuePair {
    /// Makes the queue pair of an identity that has a device, the pool's.
    pub(crate) fn new(identity: Identity, pool: &Arc<Pool>) -> io::Result<QueuePair> {
        let (library, context) = (identity.library, identity.context()?);
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let mut endpoint = QueuePair {
            identity,
            cq: null_mut(),
            completions: null_mut(),
            flights: Mutex::new((0..FLIGHTS).map(|_| None).collect()),
            fresh: Mutex::new(pool.lend()?),
            bell,
            is_shut: AtomicBool::new(false),
        };
        // SAFETY: the device is open, as for the pool.
        endpoint.completions = made(unsafe { (library.ibv_create_comp_channel)(context) })?;
        // SAFETY: the channel was made just now, and is borrowed for this call alone.
        unblock(unsafe { BorrowedFd::borrow_raw((*endpoint.completions).fd) })?;
        let entries = FLIGHTS as c_int;
        // SAFETY: device and channel are open.
        endpoint.cq = made(unsafe { (library.ibv_create_cq)(context, entries, null_mut(), endpoint.completions, 0) })?;
        let mut wanted = QpInitAttr {
            qp_context: null_mut(),
            send_cq: endpoint.cq,
            recv_cq: endpoint.cq,
            srq: null_mut(),
            max_send_wr: BUFFERS as u32,
            max_recv_wr: BUFFERS as u32,
            max_send_sge: 1,
            max_recv_sge: 1,
            max_inline_data: 0,
            qp_type: QPT_RC,
            sq_sig_all: 1,
        };
        // SAFETY: identity, domain and completion queue are of the same device.
        checked(unsafe { (library.rdma_create_qp)(endpoint.identity.id, pool.domain, &mut wanted) })?;
        Ok(endpoint)
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.identity.local_addr()
    }

    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.identity.peer_addr()
    }

    /// Waits until the other end knows that this one has accepted.
    pub fn establish(&self, end: Instant) -> io::Result<()> {
        self.identity.expect(ESTABLISHED, end).map(drop)
    }

    /// Returns one of this connection's `BUFFERS` buffers; None when all have been asked for.
    pub fn buffer(&self) -> Option<RegisteredBuffer> {
        lock(&self.fresh).pop()
    }

    /// Gives the device a buffer for a message of the other end.
    pub fn receive(&self, buffer: RegisteredBuffer) -> io::Result<()> {
        let mut piece = Sge { addr: buffer.as_ptr() as u64, length: BUFFER as u32, lkey: buffer.lkey };
        let wr_id = self.enter(Flight::Receive(buffer))?;
        let mut request = RecvWr { wr_id, next: null_mut(), sg_list: &mut piece, num_sge: 1 };
        let qp = self.qp();
        // SAFETY: the queue pair lives as long as `self`; the buffer is in `flights` until the device is done with it,
        // or the queue pair is gone.
        let result = checked(unsafe { ((*(*qp).context).post_recv)(qp, &mut request, &mut null_mut()) });
        self.unless(result, wr_id)
    }

    /// Sends the first `length` bytes of a buffer with a number; without a buffer a number alone.
    pub fn send(&self, buffer: Option<RegisteredBuffer>, length: usize, immediate: u32) -> io::Result<()> {
        let mut piece = Sge { addr: 0, length: length.min(BUFFER) as u32, lkey: 0 };
        if let Some(buffer) = &buffer {
            (piece.addr, piece.lkey) = (buffer.as_ptr() as u64, buffer.lkey);
        }
        let pieces = c_int::from(buffer.is_some());
        let wr_id = self.enter(Flight::Send(buffer))?;
        let mut request = SendWr {
            wr_id,
            next: null_mut(),
            sg_list: if pieces == 0 { null_mut() } else { &mut piece },
            num_sge: pieces,
            opcode: WR_SEND_WITH_IMM,
            send_flags: SEND_SIGNALED,
            imm_data: immediate.to_be(),
            rest: [0; 11],
        };
        let qp = self.qp();
        // SAFETY: as for `receive`.
        let result = checked(unsafe { ((*(*qp).context).post_send)(qp, &mut request, &mut null_mut()) });
        self.unless(result, wr_id)
    }

    /// Returns a send or receive that has ended, and None if there is none now. Returns an error for one that failed.
    pub fn take(&self) -> io::Result<Option<Completion>> {
        let mut done = Wc::default();
        // SAFETY: the queue lives as long as `self`, and `done` has room for one entry.
        let count = unsafe { ((*self.context()).poll_cq)(self.cq, 1, &mut done) };
        if count < 0 {
            return Err(io::Error::other("the completion queue failed"));
        }
        if count == 0 {
            return Ok(None);
        }
        let flight = usize::try_from(done.wr_id).ok().and_then(|number| lock(&self.flights).get_mut(number)?.take());
        if done.status != WC_SUCCESS {
            return Err(failure(done.status));
        }
        match flight {
            Some(Flight::Send(buffer)) => Ok(Some(Completion::Sent(buffer))),
            Some(Flight::Receive(buffer)) => {
                let length = (done.byte_len as usize).min(BUFFER);
                let immediate = (done.wc_flags & WC_WITH_IMM != 0).then_some(u32::from_be(done.imm_data));
                Ok(Some(Completion::Received { buffer, length, immediate }))
            }
            None => Err(io::Error::other("a completion of nothing")),
        }
    }

    /// Has the next completion end a `wait`. Those of before do not: `take` them after this call.
    pub fn arm(&self) -> io::Result<()> {
        // SAFETY: the queue lives as long as `self`.
        checked(unsafe { ((*self.context()).req_notify_cq)(self.cq, 0) })
    }

    /// Waits for a completion after `arm`, or for the end of the connection.
    pub fn wait(&self, limit: Option<Duration>) -> io::Result<Woken> {
        // SAFETY: the channel is open as long as `self` is there.
        let completions = unsafe { BorrowedFd::borrow_raw((*self.completions).fd) };
        let watched = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
        let mut fds = [watched(completions), watched(self.identity.channel()), watched(self.bell.as_fd())];
        if !wait_for(&mut fds, limit)? {
            return Ok(Woken::TimedOut);
        }
        if self.is_shut.load(Ordering::Acquire) {
            return Ok(Woken::Ended);
        }
        let (mut cq, mut told) = (null_mut(), null_mut());
        // SAFETY: the channel does not block; each event is confirmed at once.
        unsafe {
            if (self.identity.library.ibv_get_cq_event)(self.completions, &mut cq, &mut told) == 0 {
                (self.identity.library.ibv_ack_cq_events)(cq, 1);
            }
        }
        // What else rdma_cm tells of a connection that stands is its end.
        let is_over = self.identity.next_event()?.is_some_and(|event| event.kind != ESTABLISHED);
        Ok(if is_over { Woken::Ended } else { Woken::Completions })
    }

    /// Ends the connection, and wakes who waits. Messages that are under way are lost.
    pub fn shut(&self) {
        if !self.is_shut.swap(true, Ordering::AcqRel) {
            let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
            // SAFETY: the identity has a queue pair. A connection that has ended already is an error that means
            // nothing.
            unsafe { (self.identity.library.rdma_disconnect)(self.identity.id) };
        }
    }

    fn qp(&self) -> *mut Qp {
        // SAFETY: the identity lives as long as `self`, and got its queue pair in `new`.
        unsafe { (*self.identity.id).qp }
    }

    fn context(&self) -> *mut Context {
        // SAFETY: the queue was made in `new`, and keeps its device.
        unsafe { (*self.cq).context }
    }

    fn enter(&self, flight: Flight) -> io::Result<u64> {
        let mut flights = lock(&self.flights);
        let number = flights.iter().position(Option::is_none);
        let number = number.ok_or_else(|| io::Error::other("more requests than the queue pair takes"))?;
        flights[number] = Some(flight);
        Ok(number as u64)
    }

    /// Takes a request back that the device did not take.
    fn unless(&self, result: io::Result<()>, number: u64) -> io::Result<()> {
        if result.is_err() {
            lock(&self.flights)[number as usize] = None;
        }
        result
    }
}

impl Drop for QueuePair {
    fn drop(&mut self) {
        self.shut();
        let library = self.identity.library;
        // SAFETY: in this order nothing is destroyed that is still used: queue pair, its completion queue (whose
        // events are confirmed), the queue's channel. The buffers in `flights` are dropped after this, when no device
        // has them.
        unsafe {
            if !self.qp().is_null() {
                (library.rdma_destroy_qp)(self.identity.id);
            }
            if !self.cq.is_null() {
                (library.ibv_destroy_cq)(self.cq);
            }
            if !self.completions.is_null() {
                (library.ibv_destroy_comp_channel)(self.completions);
            }
        }
    }
}

fn failure(status: u32) -> io::Error {
    match status {
        WC_WR_FLUSH_ERR => io::ErrorKind::ConnectionAborted.into(),
        WC_RETRY_EXC_ERR => io::Error::new(io::ErrorKind::TimedOut, "the other end confirms no messages"),
        other => io::Error::new(io::ErrorKind::ConnectionReset, format!("RDMA error {other}")),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
