//! The identity of a connection or listener at rdma_cm, and its events.

use crate::address::{cooked, raw};
use crate::library::{checked, made, Library};
use crate::sys::{
    CmEvent, CmId, ConnParam, Context, EventChannel, ADDR_RESOLVED, CONNECT_REQUEST, ESTABLISHED, PS_TCP, REJECTED,
    ROUTE_RESOLVED, UNREACHABLE,
};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fs::{fcntl_getfl, fcntl_setfl, OFlags};
use std::ffi::c_int;
use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::ptr::{addr_of, null, null_mut};
use std::time::{Duration, Instant};

/// Most times that a message is sent again which the other end did not confirm; and which it had no buffer for, where
/// the largest number means without end. The daemon's own time limits bound both.
const RETRIES: u8 = 7;

/// An event of rdma_cm that has been confirmed.
pub struct CmNews {
    pub kind: u32,
    status: c_int,
    greeting: Vec<u8>,
    id: *mut CmId,
}

/// An identity, with an event channel of its own.
pub struct Identity {
    pub library: &'static Library,
    pub id: *mut CmId,
    channel: *mut EventChannel,
}

// SAFETY: librdmacm may be called by any thread. What it changes in `id` it changes while one thread has the identity
// alone (before a connection is shared), or for itself.
unsafe impl Send for Identity {}
// SAFETY: as above.
unsafe impl Sync for Identity {}

impl Identity {
    /// Returns an identity for a connection or a listener. Returns an error if there is no RDMA device.
    pub fn new(library: &'static Library) -> io::Result<Identity> {
        let mut identity = Identity { library, id: null_mut(), channel: event_channel(library)? };
        // SAFETY: the channel is open, and `id` takes the new identity.
        checked(unsafe { (library.rdma_create_id)(identity.channel, &mut identity.id, null_mut(), PS_TCP) })?;
        Ok(identity)
    }

    /// Returns the open device of a connection. Returns an error if no device was found yet.
    pub fn context(&self) -> io::Result<*mut Context> {
        // SAFETY: `id` is an identity of the library until this is dropped.
        let context = unsafe { (*self.id).verbs };
        if context.is_null() { Err(io::Error::other("no RDMA device leads there")) } else { Ok(context) }
    }

    /// Finds the device and the way to an address.
    pub fn resolve(&self, address: SocketAddr, end: Instant) -> io::Result<()> {
        let storage = raw(address);
        let address = addr_of!(storage).cast();
        // SAFETY: the address is a whole one, which the library copies.
        checked(unsafe { (self.library.rdma_resolve_addr)(self.id, null(), address, milliseconds(end)) })?;
        self.expect(ADDR_RESOLVED, end)?;
        // SAFETY: the identity has an address.
        checked(unsafe { (self.library.rdma_resolve_route)(self.id, milliseconds(end)) })?;
        self.expect(ROUTE_RESOLVED, end).map(drop)
    }

    /// Connects, and waits for the other end. The queue pair is there, and has buffers.
    pub fn connect(&self, greeting: &[u8], end: Instant) -> io::Result<()> {
        let mut parameters = parameters(greeting)?;
        // SAFETY: the greeting outlives the call, which copies it.
        checked(unsafe { (self.library.rdma_connect)(self.id, &mut parameters) })?;
        let answer = self.expect(ESTABLISHED, end)?;
        if answer.greeting.starts_with(greeting) {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "an end of another protocol"))
    }

    pub fn accept(&self, greeting: &[u8]) -> io::Result<()> {
        let mut parameters = parameters(greeting)?;
        // SAFETY: the greeting outlives the call, which copies it.
        checked(unsafe { (self.library.rdma_accept)(self.id, &mut parameters) })
    }

    pub fn listen(&self, address: SocketAddr, backlog: i32) -> io::Result<()> {
        let storage = raw(address);
        // SAFETY: the address is a whole one, which the library copies.
        checked(unsafe { (self.library.rdma_bind_addr)(self.id, addr_of!(storage).cast()) })?;
        // SAFETY: the identity has an address.
        checked(unsafe { (self.library.rdma_listen)(self.id, backlog) })
    }

    /// Waits for the next request of another end; returns its identity and greeting.
    pub fn next_request(&self) -> io::Result<(Identity, Vec<u8>)> {
        loop {
            match self.next_event()? {
                Some(event) if event.kind == CONNECT_REQUEST => {
                    let (id, channel) = (event.id, event_channel(self.library));
                    // Dropping it refuses the request, also without a channel of its own.
                    let mut identity = Identity { library: self.library, id, channel: null_mut() };
                    identity.channel = channel?;
                    // SAFETY: the event was confirmed, as the call wants, and both are open.
                    checked(unsafe { (self.library.rdma_migrate_id)(id, identity.channel) })?;
                    return Ok((identity, event.greeting));
                }
                Some(_) => {}
                None => {
                    self.wait(None)?;
                }
            }
        }
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        // SAFETY: `id` is an identity of the library, which writes its addresses while it is made alone.
        cooked(unsafe { &(*self.id).source })
    }

    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        // SAFETY: as above.
        cooked(unsafe { &(*self.id).destination })
    }

    /// Waits for an event of a kind. Returns an error for any other, or after the instant `end`.
    pub fn expect(&self, kind: u32, end: Instant) -> io::Result<CmNews> {
        loop {
            if let Some(event) = self.next_event()? {
                return if event.kind == kind { Ok(event) } else { Err(event.error()) };
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.wait(Some(left))? {
                return Err(io::Error::from_raw_os_error(libc::ETIMEDOUT));
            }
        }
    }

    /// Returns the next event, and None if there is none now.
    pub fn next_event(&self) -> io::Result<Option<CmNews>> {
        let mut raw: *mut CmEvent = null_mut();
        // SAFETY: the channel is open, and does not block.
        match checked(unsafe { (self.library.rdma_get_cm_event)(self.channel, &mut raw) }) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            other => other?,
        }
        // SAFETY: the library returned this event, which lives until it is confirmed.
        let event = unsafe { &*raw };
        let (start, length) = (event.param.private_data.cast::<u8>(), usize::from(event.param.private_data_len));
        let has_greeting = matches!(event.event, CONNECT_REQUEST | ESTABLISHED) && !start.is_null();
        // SAFETY: of these kinds of events the library gives so many bytes of the other end's greeting.
        let shown = has_greeting.then(|| unsafe { std::slice::from_raw_parts(start, length) }.to_vec());
        let greeting = shown.unwrap_or_default();
        let event = CmNews { kind: event.event, status: event.status, greeting, id: event.id };
        // SAFETY: nothing of the event is used after this.
        checked(unsafe { (self.library.rdma_ack_cm_event)(raw) })?;
        Ok(Some(event))
    }

    pub fn channel(&self) -> BorrowedFd<'_> {
        // SAFETY: the channel is open as long as `self` is there.
        unsafe { BorrowedFd::borrow_raw((*self.channel).fd) }
    }

    fn wait(&self, limit: Option<Duration>) -> io::Result<bool> {
        wait_for(&mut [PollFd::from_borrowed_fd(self.channel(), PollFlags::IN)], limit)
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        // SAFETY: both are the library's, are used by nobody after this, and all events were confirmed.
        unsafe {
            if !self.id.is_null() {
                (self.library.rdma_destroy_id)(self.id);
            }
            if !self.channel.is_null() {
                (self.library.rdma_destroy_event_channel)(self.channel);
            }
        }
    }
}

impl CmNews {
    /// Returns the error that an event tells.
    pub fn error(&self) -> io::Error {
        match (self.kind, self.status) {
            // As TCP has them: who asks finds by the number whose fault it is.
            (REJECTED, _) => io::Error::from_raw_os_error(libc::ECONNREFUSED),
            (UNREACHABLE, _) => io::Error::from_raw_os_error(libc::ETIMEDOUT),
            (_, status) if status < 0 => io::Error::from_raw_os_error(-status),
            (kind, status) => io::Error::other(format!("event {kind} of rdma_cm, status {status}")),
        }
    }
}

/// Waits until one of these is ready; returns false if none was within the limit.
pub fn wait_for(fds: &mut [PollFd<'_>], limit: Option<Duration>) -> io::Result<bool> {
    let limit = limit.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
    match poll(fds, limit.as_ref()) {
        Ok(count) => Ok(count > 0),
        Err(rustix::io::Errno::INTR) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

fn event_channel(library: &'static Library) -> io::Result<*mut EventChannel> {
    // SAFETY: the call has no arguments.
    let channel = made(unsafe { (library.rdma_create_event_channel)() })?;
    // SAFETY: the channel was made just now.
    let fd = unsafe { BorrowedFd::borrow_raw((*channel).fd) };
    unblock(fd)?;
    Ok(channel)
}

/// Makes reads of a descriptor return at once.
pub fn unblock(fd: BorrowedFd<'_>) -> io::Result<()> {
    Ok(fcntl_setfl(fd, fcntl_getfl(fd)? | OFlags::NONBLOCK)?)
}

fn parameters(greeting: &[u8]) -> io::Result<ConnParam> {
    let length = u8::try_from(greeting.len()).ok().filter(|length| *length <= 56);
    let private_data_len = length.ok_or(io::ErrorKind::InvalidInput)?;
    let private_data = greeting.as_ptr().cast();
    Ok(ConnParam {
        private_data,
        private_data_len,
        // Nobody reads or writes the other end's memory by these; some devices want room for one such request.
        responder_resources: 1,
        initiator_depth: 1,
        flow_control: 1,
        retry_count: RETRIES,
        rnr_retry_count: RETRIES,
        srq: 0,
        qp_num: 0,
    })
}

fn milliseconds(end: Instant) -> c_int {
    let left = end.saturating_duration_since(Instant::now()).as_millis();
    c_int::try_from(left).unwrap_or(c_int::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_that_rdma_cm_cannot_carry_is_refused() {
        assert!(parameters(&[0; 56]).is_ok());
        assert!(parameters(&[0; 57]).is_err());
    }
}
