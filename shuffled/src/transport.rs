//! Carries bytes between two daemons: by plain TCP, by TLS over it, or by RDMA.

use crate::connection::Connection;
use crate::link::Timed;
use crate::rdma::line::RdmaLine;
use crate::tls::{self, Tls, TlsContext};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A way to carry the bytes of one connection. One thread may read while another writes.
pub trait Transport: Send + Sync {
    fn read(&self, bytes: &mut [u8]) -> io::Result<usize>;
    fn write_all(&self, bytes: &[u8]) -> io::Result<()>;
    /// Sends `length` bytes of a file, from `offset` on. Where the file has become shorter, or its disk fails, zeros
    /// are sent for the rest: the connection carries other jobs too, and the reducer's checksums find the zeros.
    fn send_file(&self, file: &File, offset: u64, length: usize) -> io::Result<()>;
    /// Returns a text that the two ends of this connection know and nobody else does; empty if there is none.
    fn binding(&self) -> &str;
}

/// The transport that all daemons of a site use.
#[derive(Clone)]
pub enum Transports {
    Plain,
    Tls(Arc<TlsContext>),
    /// Plain TCP that does one wrong thing.
    #[cfg(test)]
    Faulty(Arc<crate::testing::faulty::FaultPlan>),
}

/// A connection between two daemons, and the transport that carries its bytes.
pub struct Wire {
    pub connection: Connection,
    transport: Box<dyn Transport>,
}

impl Transports {
    /// Returns whether the bytes are encrypted, so that nobody on the way can read them.
    pub fn is_sealed(&self) -> bool {
        matches!(self, Transports::Tls(_))
    }

    /// Makes the transport of the end that connected to `host`, before the instant `end`. Returns an error if the
    /// other end is not that host, as far as the transport can tell.
    pub fn asker(&self, connection: impl Into<Connection>, host: &str, end: Instant) -> io::Result<Wire> {
        self.wire(connection.into(), |context, socket| tls::asker(context, socket, host, end))
    }

    /// Makes the transport of the end that accepted a connection, before the instant `end`.
    pub fn answerer(&self, connection: impl Into<Connection>, end: Instant) -> io::Result<Wire> {
        self.wire(connection.into(), |context, socket| tls::answerer(context, socket, end))
    }

    fn wire(
        &self, connection: Connection, seal: impl FnOnce(&TlsContext, &Arc<TcpStream>) -> io::Result<Tls>,
    ) -> io::Result<Wire> {
        let transport: Box<dyn Transport> = match (self, &connection) {
            (Transports::Plain, Connection::Tcp(socket)) => Box::new(Plain(Arc::clone(socket))),
            (Transports::Plain, Connection::Rdma(line)) => Box::new(Rdma(Arc::clone(line))),
            (Transports::Tls(context), Connection::Tcp(socket)) => Box::new(seal(context, socket)?),
            #[cfg(test)]
            (Transports::Faulty(plan), Connection::Tcp(socket)) => {
                Box::new(crate::testing::faulty::Faulty::new(Arc::clone(socket), Arc::clone(plan)))
            }
            #[cfg(test)]
            (Transports::Faulty(_), Connection::Rdma(_)) => return Err(io::Error::other("faults are TCP's")),
            (Transports::Tls(_), Connection::Rdma(_)) => {
                return Err(io::Error::other("RDMA does not encrypt, and this daemon uses TLS"));
            }
        };
        Ok(Wire { connection, transport })
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
        self.connection.limit(time)
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

struct Rdma(Arc<RdmaLine>);

impl Transport for Rdma {
    fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }

    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn send_file(&self, file: &File, offset: u64, length: usize) -> io::Result<()> {
        self.0.send_file(file, offset, length)
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

thread_local! {
    /// The bytes of a file on their way through a thread that sends.
    static PIECE: RefCell<Vec<u8>> = RefCell::new(vec![0; 64 << 10]);
}

/// Sends `left` bytes of a file by reading them, where the kernel cannot send the file by itself. Sends zeros for
/// bytes that cannot be read. A thread keeps one buffer for all that it sends.
pub fn send_by_reading(transport: &dyn Transport, file: &File, mut offset: u64, mut left: usize) -> io::Result<()> {
    PIECE.with_borrow_mut(|bytes| {
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
    })
}
