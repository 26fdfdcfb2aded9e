//! The ways in which bytes go between two daemons: plain TCP, or TLS over it.

use crate::link::Timed;
use crate::tls::{self, TlsContext};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One way to carry bytes. One thread may read while another writes.
pub trait Transport: Send + Sync {
    fn read(&self, bytes: &mut [u8]) -> io::Result<usize>;
    fn write_all(&self, bytes: &[u8]) -> io::Result<()>;
    /// Sends a part of a file. A file that became shorter, or whose disk fails, gives zeros for the rest: the
    /// connection carries other jobs too, and the reducer's checksums find them.
    fn send_file(&self, file: &File, offset: u64, length: usize) -> io::Result<()>;
    /// Returns what both ends know of this connection and nobody else does; empty if there is nothing.
    fn binding(&self) -> &str;
}

/// The transport that all daemons of a site use.
#[derive(Clone)]
pub enum Transports {
    Plain,
    Tls(Arc<TlsContext>),
}

/// A connection, and its transport.
pub struct Wire {
    pub socket: Arc<TcpStream>,
    transport: Box<dyn Transport>,
}

impl Transports {
    /// Returns whether nobody on the way can read what is sent.
    pub fn is_sealed(&self) -> bool {
        matches!(self, Transports::Tls(_))
    }

    /// Makes the end that connected, until a point in time; the other one must be that host, as far as the
    /// transport can tell.
    pub fn asker(&self, socket: &Arc<TcpStream>, host: &str, end: Instant) -> io::Result<Wire> {
        let transport: Box<dyn Transport> = match self {
            Transports::Plain => Box::new(Plain(Arc::clone(socket))),
            Transports::Tls(context) => Box::new(tls::asker(context, socket, host, end)?),
        };
        Ok(Wire { socket: Arc::clone(socket), transport })
    }

    /// Makes the end that was connected to, until a point in time.
    pub fn answerer(&self, socket: &Arc<TcpStream>, end: Instant) -> io::Result<Wire> {
        let transport: Box<dyn Transport> = match self {
            Transports::Plain => Box::new(Plain(Arc::clone(socket))),
            Transports::Tls(context) => Box::new(tls::answerer(context, socket, end)?),
        };
        Ok(Wire { socket: Arc::clone(socket), transport })
    }
}

impl Wire {
    pub fn send_file(&self, file: &File, offset: u64, length: usize) -> io::Result<()> {
        self.transport.send_file(file, offset, length)
    }

    pub fn binding(&self) -> &str {
        self.transport.binding()
    }
}

impl Read for &Wire {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.transport.read(bytes)
    }
}

impl Write for &Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.transport.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Timed for Wire {
    fn limit(&self, time: Option<Duration>) -> io::Result<()> {
        self.socket.limit(time)
    }
}

struct Plain(Arc<TcpStream>);

impl Transport for Plain {
    fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(bytes)
    }

    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        (&*self.0).write_all(bytes)
    }

    fn send_file(&self, file: &File, mut offset: u64, mut left: usize) -> io::Result<()> {
        use rustix::io::Errno;
        while left > 0 {
            match rustix::fs::sendfile(&*self.0, file, Some(&mut offset), left) {
                Ok(0) | Err(Errno::IO) => return send_zeros(self, left),
                Ok(count) => left -= count,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn binding(&self) -> &str {
        ""
    }
}

fn send_zeros(transport: &dyn Transport, mut left: usize) -> io::Result<()> {
    let zeros = [0; 16 << 10];
    while left > 0 {
        let count = left.min(zeros.len());
        transport.write_all(&zeros[..count])?;
        left -= count;
    }
    Ok(())
}

/// Sends a part of a file by reading it, where the kernel cannot send it by itself.
pub fn send_by_reading(transport: &dyn Transport, file: &File, mut offset: u64, mut left: usize) -> io::Result<()> {
    let mut bytes = vec![0; left.min(64 << 10)];
    while left > 0 {
        let most = left.min(bytes.len());
        match file.read_at(&mut bytes[..most], offset) {
            Ok(0) => return send_zeros(transport, left),
            Ok(count) => {
                transport.write_all(&bytes[..count])?;
                offset += count as u64;
                left -= count;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return send_zeros(transport, left),
        }
    }
    Ok(())
}
