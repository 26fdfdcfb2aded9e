//! Decides whether this daemon uses RDMA, and connects to other nodes by it. An RDMA connection carries the same bytes
//! as a TCP connection: docs/jbs-rdma.md.

mod flow;
pub mod line;

use line::RdmaLine;
use std::collections::HashMap;
use std::ffi::CStr;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vas_verbs::{Fabric, VerbsListener, ConnectionRequest, LIBIBVERBS, LIBRDMACM};

/// The text that both ends of a connection show at its beginning. The sizes of buffers and credits go with it.
const GREETING: &[u8] = b"VASRDMA1";
/// Most connections in each direction that have registered memory: 512 KiB for each.
pub const MOST: usize = 256;
const BACKLOG: i32 = 128;
/// How long a node may take to accept. One without RDMA does not answer at all.
const CONNECTING: Duration = Duration::from_secs(5);
/// How long a node that RDMA did not reach is reached by TCP at once.
const AGAIN: Duration = Duration::from_secs(600);
/// Most nodes of which is known that RDMA does not reach them.
const MOST_KNOWN: usize = 4096;

/// How a daemon uses RDMA, as its command line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RdmaUse {
    Off,
    /// RDMA where both ends have it; else TCP.
    Auto,
    /// Other nodes are asked by RDMA alone.
    On,
}

/// The part of the daemon that makes and accepts RDMA connections.
pub struct Rdma {
    asking: Arc<Fabric>,
    answering: Arc<Fabric>,
    /// True if nodes that RDMA does not reach are not asked at all.
    pub is_only: bool,
    unreached: Mutex<HashMap<String, Instant>>,
}

/// A listener for RDMA connections of other nodes.
pub struct RdmaListener(VerbsListener);

/// Returns the RDMA part of a daemon; None if it uses TCP alone, with a line that says why, unless RDMA is off.
/// `is_sealed` tells that the daemon's connections must be encrypted. Returns an error, which is that line, if RDMA is
/// on and cannot be used.
pub fn open(used: RdmaUse, is_sealed: bool) -> Result<(Option<Rdma>, Option<String>), String> {
    open_by(used, is_sealed, LIBIBVERBS, LIBRDMACM)
}

fn open_by(
    used: RdmaUse, is_sealed: bool, libibverbs: &CStr, librdmacm: &CStr,
) -> Result<(Option<Rdma>, Option<String>), String> {
    if used == RdmaUse::Off {
        return Ok((None, None));
    }
    let is_only = used == RdmaUse::On;
    let opened = if is_sealed {
        Err("its bytes are not encrypted, and this daemon is told to use TLS".to_owned())
    } else {
        Rdma::load(is_only, libibverbs, librdmacm).map_err(|error| error.to_string())
    };
    match opened {
        Ok(rdma) => Ok((Some(rdma), None)),
        Err(why) if is_only => Err(format!("RDMA is on and cannot be used: {why}")),
        Err(why) => Ok((None, Some(format!("RDMA is not used, TCP is: {why}")))),
    }
}

impl Rdma {
    fn load(is_only: bool, libibverbs: &CStr, librdmacm: &CStr) -> io::Result<Rdma> {
        // Strangers who connect take none of the memory of connections that this node makes.
        let asking = Fabric::load(libibverbs, librdmacm, MOST)?;
        let answering = Fabric::load(libibverbs, librdmacm, MOST)?;
        Ok(Rdma { asking, answering, is_only, unreached: Mutex::default() })
    }

    /// Listens at an address. Returns an error if no RDMA device has it.
    pub fn listen(&self, address: SocketAddr) -> io::Result<RdmaListener> {
        VerbsListener::bind(&self.answering, address, BACKLOG).map(RdmaListener)
    }

    /// Returns whether a node is to be asked by RDMA: always, or unless it was not reached so of late.
    pub fn is_for(&self, host: &str) -> bool {
        self.is_only || self.unreached().get(host).is_none_or(|at| at.elapsed() > AGAIN)
    }

    /// Connects to a node.
    pub fn connect(&self, address: SocketAddr) -> io::Result<Arc<RdmaLine>> {
        let end = Instant::now() + CONNECTING;
        RdmaLine::new(self.asking.connect(address, GREETING, RdmaLine::prepare, end)?)
    }

    /// Notes that RDMA did not reach a node, and returns whether that is news.
    pub fn missed(&self, host: &str) -> bool {
        let mut unreached = self.unreached();
        if unreached.len() >= MOST_KNOWN {
            unreached.clear();
        }
        unreached.insert(host.to_owned(), Instant::now()).is_none()
    }

    fn unreached(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.unreached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RdmaListener {
    /// Waits for the next connection. Returns an error if the device is gone, or descriptors or memory are short.
    pub fn next(&self) -> io::Result<ConnectionRequest> {
        self.0.next()
    }
}

/// Accepts a connection; its end has still to be established. Returns an error if it is none of this protocol, or there
/// is no registered memory left.
pub fn accept(request: ConnectionRequest) -> io::Result<Arc<RdmaLine>> {
    RdmaLine::new(request.accept(GREETING, RdmaLine::prepare)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODYS: &CStr = c"libibverbs-of-nobody.so.1";

    fn tried(used: RdmaUse, is_sealed: bool) -> Result<String, String> {
        let (rdma, line) = open_by(used, is_sealed, NOBODYS, LIBRDMACM)?;
        assert!(rdma.is_none());
        Ok(line.unwrap_or_default())
    }

    #[test]
    fn a_daemon_without_the_library_uses_tcp_and_says_so_in_one_line() {
        let line = tried(RdmaUse::Auto, false).unwrap();
        assert!(line.starts_with("RDMA is not used, TCP is: libibverbs-of-nobody.so.1"), "{line}");
        assert_eq!(line.lines().count(), 1);
        assert_eq!(tried(RdmaUse::Off, false), Ok(String::new()));
    }

    #[test]
    fn a_daemon_that_must_use_rdma_does_not_start_without() {
        let line = tried(RdmaUse::On, false).unwrap_err();
        assert!(line.starts_with("RDMA is on and cannot be used: libibverbs-of-nobody.so.1"), "{line}");
    }

    #[test]
    fn where_tls_is_demanded_rdma_is_refused() {
        // The real libraries: they are not even loaded.
        let (rdma, line) = open(RdmaUse::Auto, true).unwrap();
        assert!(rdma.is_none());
        assert!(line.unwrap().contains("not encrypted"));
        assert!(open(RdmaUse::On, true).err().unwrap().contains("not encrypted"));
        assert!(matches!(open(RdmaUse::Off, true), Ok((None, None))));
    }
}
