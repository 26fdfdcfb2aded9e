//! A connection between two daemons, by TCP or by RDMA: its addresses, time limits and end.

use crate::door::Shut;
use crate::link::{LinkRole, Timed};
use crate::rdma::line::RdmaLine;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A connection between two daemons.
#[derive(Clone)]
pub enum Connection {
    Tcp(Arc<TcpStream>),
    Rdma(Arc<RdmaLine>),
}

impl Connection {
    /// Makes the connection ready for use, before the instant `end`.
    pub fn begin(&self, end: Instant, role: LinkRole) -> io::Result<()> {
        match self {
            Connection::Tcp(socket) => socket.set_nodelay(true),
            Connection::Rdma(_) if role == LinkRole::Asker => Ok(()),
            Connection::Rdma(line) => line.endpoint.establish(end),
        }
    }

    /// Sets how long a read and a write may take.
    pub fn limits(&self, read: Duration, write: Duration) -> io::Result<()> {
        match self {
            Connection::Tcp(socket) => {
                socket.set_read_timeout(Some(read))?;
                socket.set_write_timeout(Some(write))
            }
            Connection::Rdma(line) => {
                line.set_limits(Some(read), Some(write));
                Ok(())
            }
        }
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Connection::Tcp(socket) => socket.local_addr(),
            Connection::Rdma(line) => line.endpoint.local_addr(),
        }
    }

    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        match self {
            Connection::Tcp(socket) => socket.peer_addr(),
            Connection::Rdma(line) => line.endpoint.peer_addr(),
        }
    }

    /// Returns whether both ends of the connection are on this node; true also if an address cannot be read.
    pub fn is_own(&self) -> bool {
        match (self.peer_addr(), self.local_addr()) {
            (Ok(peer), Ok(local)) => crate::reach::are_one(peer.ip(), local.ip()),
            _ => true,
        }
    }
}

impl Shut for Connection {
    fn shut(&self) {
        match self {
            Connection::Tcp(socket) => socket.shut(),
            Connection::Rdma(line) => line.shut(),
        }
    }
}

impl Timed for Connection {
    fn limit(&self, time: Option<Duration>) -> io::Result<()> {
        match self {
            Connection::Tcp(socket) => socket.limit(time),
            Connection::Rdma(line) => line.limit(time),
        }
    }
}

impl From<&Arc<TcpStream>> for Connection {
    fn from(socket: &Arc<TcpStream>) -> Connection {
        Connection::Tcp(Arc::clone(socket))
    }
}

impl From<&Connection> for Connection {
    fn from(connection: &Connection) -> Connection {
        connection.clone()
    }
}
