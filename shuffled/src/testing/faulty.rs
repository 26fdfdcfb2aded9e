//! A transport that carries bytes as plain TCP does, and does one wrong thing at one place of what it sends.

use crate::transport::{send_by_reading, Transport};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A fault of a transport at one byte of the bytes that an end sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// One bit is another.
    Flip(u8),
    /// The connection breaks at that byte.
    Cut,
    /// So many bytes are lost, and the next follow.
    Lose(usize),
    /// So many bytes, or as many as are sent at once, come twice.
    Repeat(usize),
    /// Nothing is sent any more, and the connection stays.
    Stall,
}

/// A fault of one end, which happens once: on the first connection that sends the byte at that place.
pub struct FaultPlan {
    pub fault: Fault,
    pub at: u64,
    /// Most bytes that one read returns.
    pub piece: usize,
    happened: AtomicBool,
}

impl FaultPlan {
    pub fn new(fault: Fault, at: u64, piece: usize) -> Arc<FaultPlan> {
        Arc::new(FaultPlan { fault, at, piece, happened: AtomicBool::new(false) })
    }

    pub fn has_happened(&self) -> bool {
        self.happened.load(Ordering::SeqCst)
    }
}

/// One connection of an end with a fault.
pub struct Faulty {
    socket: Arc<TcpStream>,
    plan: Arc<FaultPlan>,
    sent: Mutex<u64>,
    stalls: AtomicBool,
}

impl Faulty {
    pub fn new(socket: Arc<TcpStream>, plan: Arc<FaultPlan>) -> Faulty {
        Faulty { socket, plan, sent: Mutex::default(), stalls: AtomicBool::new(false) }
    }

    /// Returns the place of the fault within so many bytes from here, if it is there and did not happen yet.
    fn place(&self, from: u64, length: usize) -> Option<usize> {
        let place = usize::try_from(self.plan.at.checked_sub(from)?).ok().filter(|place| *place < length)?;
        (!self.plan.happened.swap(true, Ordering::SeqCst)).then_some(place)
    }

    fn send_wrongly(&self, bytes: &[u8], place: usize) -> io::Result<()> {
        let (before, rest) = bytes.split_at(place);
        let mut socket = &*self.socket;
        socket.write_all(before)?;
        match self.plan.fault {
            Fault::Flip(bit) => {
                socket.write_all(&[rest[0] ^ (1 << bit)])?;
                socket.write_all(&rest[1..])
            }
            Fault::Cut => self.socket.shutdown(Shutdown::Both),
            Fault::Lose(count) => socket.write_all(&rest[count.min(rest.len())..]),
            Fault::Repeat(count) => {
                socket.write_all(&rest[..count.min(rest.len())])?;
                socket.write_all(rest)
            }
            Fault::Stall => {
                self.stalls.store(true, Ordering::SeqCst);
                Ok(())
            }
        }
    }
}

impl Transport for Faulty {
    fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        let most = bytes.len().min(self.plan.piece);
        (&*self.socket).read(&mut bytes[..most])
    }

    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let from = *sent;
        *sent += bytes.len() as u64;
        match self.place(from, bytes.len()) {
            Some(place) => self.send_wrongly(bytes, place),
            None if self.stalls.load(Ordering::SeqCst) => Ok(()),
            None => (&*self.socket).write_all(bytes),
        }
    }

    fn send_file(&self, file: &File, offset: u64, length: usize) -> io::Result<()> {
        send_by_reading(self, file, offset, length)
    }

    fn binding(&self) -> &str {
        ""
    }
}
