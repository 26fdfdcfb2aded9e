//! Decides whose fault it is that a node cannot be reached: that node's, or this one's own network.

use crate::wire::RefusalReason;
use rustix::io::Errno;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const CONNECTING: Duration = Duration::from_secs(10);
const WITNESS: Duration = Duration::from_secs(3);
/// How long an answer of the witnesses is used before they are asked again.
const RECENT: Duration = Duration::from_secs(5);

/// Tells whether this node's own network works, by when other nodes were heard and by what witnesses answer.
pub struct Reach {
    /// Services that answer where this node's network works, such as the ResourceManager, as HOST:PORT.
    witnesses: Vec<String>,
    connecting: Duration,
    heard: Mutex<Option<Instant>>,
    asked: Mutex<Option<(Instant, Word)>>,
}

/// The answer of the witnesses to whether this node is cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Connected,
    CutOff,
    /// No witness can tell: none is named, none has a known name, or the only one is this node itself.
    Nothing,
}

/// A connection that could not be made: the reason of the refusal, and a text for people.
#[derive(Debug)]
pub struct Failed {
    pub why: RefusalReason,
    pub text: String,
}

impl Reach {
    pub fn new(witnesses: Vec<String>) -> Reach {
        Reach::within(CONNECTING, witnesses)
    }

    pub fn within(connecting: Duration, witnesses: Vec<String>) -> Reach {
        Reach { witnesses, connecting, heard: Mutex::default(), asked: Mutex::default() }
    }

    /// Notes that bytes of another node have arrived just now.
    pub fn heard(&self) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Connects to a node. Returns None if `is_own` finds that the address is this very daemon's. The error tells
    /// whether that node cannot be reached, or this node's own network is in trouble.
    pub fn connect(
        &self, host: &str, port: u16, is_own: impl Fn(&SocketAddr) -> bool,
    ) -> Result<Option<TcpStream>, Failed> {
        self.connect_by(host, port, is_own, |address| TcpStream::connect_timeout(&address, self.connecting))
    }

    /// Connects to a node as `connect` does, by `make`.
    pub fn connect_by<C>(
        &self, host: &str, port: u16, is_own: impl Fn(&SocketAddr) -> bool, make: impl Fn(SocketAddr) -> io::Result<C>,
    ) -> Result<Option<C>, Failed> {
        let begun = Instant::now();
        let addresses = (host, port).to_socket_addrs().map_err(|error| Failed {
            why: if is_unknown_name(&error) { RefusalReason::Unreachable } else { RefusalReason::Here },
            text: format!("{host}: {error}"),
        })?;
        let mut failed: Option<(Blame, io::Error)> = None;
        for address in addresses {
            if is_own(&address) {
                return Ok(None);
            }
            match make(address) {
                Ok(connection) => return Ok(Some(connection)),
                Err(error) => {
                    let blame = blame(&error);
                    if failed.as_ref().is_none_or(|(before, _)| blame > *before) {
                        failed = Some((blame, error));
                    }
                }
            }
        }
        let (blame, error) = failed.unwrap_or((Blame::Theirs, io::Error::other("no address")));
        let is_here = blame == Blame::Ours || (blame == Blame::Open && self.is_cut_off(begun));
        let why = if is_here { RefusalReason::Here } else { RefusalReason::Unreachable };
        let note = if is_here && blame == Blame::Open { ", nor does any other node answer this one" } else { "" };
        Err(Failed { why, text: format!("{host}: {error}{note}") })
    }

    /// Returns whether no other node was heard since an instant, and no witness answers now, or did up to `RECENT` ago;
    /// false without any witness.
    fn is_cut_off(&self, since: Instant) -> bool {
        let heard = *self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.is_some_and(|at| at >= since) {
            return false;
        }
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, word)) = asked.filter(|(at, _)| at.elapsed() < RECENT) {
            return word == Word::CutOff;
        }
        let word = self.ask();
        *asked = Some((Instant::now(), word));
        word == Word::CutOff
    }

    fn ask(&self) -> Word {
        let mut word = Word::Nothing;
        for witness in &self.witnesses {
            let addresses = match witness.to_socket_addrs() {
                Ok(addresses) => addresses,
                // No host has that name: it was never a witness.
                Err(error) if is_unknown_name(&error) => continue,
                Err(_) => {
                    word = Word::CutOff;
                    continue;
                }
            };
            for address in addresses {
                match answers(&address) {
                    Some(true) => return Word::Connected,
                    Some(false) => word = Word::CutOff,
                    None => {}
                }
            }
        }
        word
    }
}

/// The side that is to blame for a failed connection. Of a host's several addresses, the last of these counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Blame {
    Ours,
    Open,
    Theirs,
}

fn blame(error: &io::Error) -> Blame {
    use Errno as E;
    if error.kind() == io::ErrorKind::OutOfMemory {
        return Blame::Ours; // no registered memory, which has no number of the kernel
    }
    match error.raw_os_error().map(E::from_raw_os_error) {
        Some(E::CONNREFUSED | E::CONNRESET) => Blame::Theirs,
        Some(E::HOSTUNREACH | E::TIMEDOUT | E::HOSTDOWN) | None => Blame::Open,
        // No route, no descriptor, no port, no memory, a rule against it: all on this side.
        Some(_) => Blame::Ours,
    }
}

// These are the texts of glibc and musl for a name that no host has. Any other error is trouble with asking.
fn is_unknown_name(error: &io::Error) -> bool {
    let text = error.to_string();
    ["Name or service not known", "No address associated", "Name does not resolve", "Name has no usable address"]
        .iter()
        .any(|known| text.contains(known))
}

/// Returns whether a witness answers; None if the witness is this node itself, which proves nothing.
fn answers(address: &SocketAddr) -> Option<bool> {
    if address.ip().is_loopback() {
        return None;
    }
    match TcpStream::connect_timeout(address, WITNESS) {
        Ok(stream) => (!is_own(&stream)).then_some(true),
        Err(error) => Some(error.raw_os_error() == Some(Errno::CONNREFUSED.raw_os_error())),
    }
}

/// Returns whether an address is one of this machine's. Sends no packet: the kernel names the source address that it
/// would use, and for one of its own addresses that is the same address.
pub fn is_local(address: IpAddr) -> bool {
    let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let source = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    address.is_loopback() || source.is_ok_and(|source| source.ip() == address)
}

/// Returns whether both ends of a connection are on this node; true also if an address cannot be read.
pub fn is_own(stream: &TcpStream) -> bool {
    match (stream.peer_addr(), stream.local_addr()) {
        (Ok(peer), Ok(local)) => are_one(peer.ip(), local.ip()),
        _ => true,
    }
}

/// Returns whether the two ends of a connection with these addresses are on one node.
pub fn are_one(peer: IpAddr, local: IpAddr) -> bool {
    peer.is_loopback() || peer.to_canonical() == local.to_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The broadcast address, to which no connection can be made.
    const NOBODY: &str = "255.255.255.255";

    fn short(witnesses: &[&str]) -> Reach {
        Reach::within(Duration::from_millis(50), witnesses.iter().map(|each| (*each).to_owned()).collect())
    }

    fn why(reach: &Reach, host: &str) -> RefusalReason {
        reach.connect(host, 1, |_| false).unwrap_err().why
    }

    #[test]
    fn who_refuses_is_there_and_who_has_no_name_is_not() {
        assert_eq!(why(&short(&[]), "127.0.0.1"), RefusalReason::Unreachable);
        assert!(is_unknown_name(&io::Error::other("failed to lookup address information: Name or service not known")));
        assert!(!is_unknown_name(&io::Error::other("failed to lookup: Temporary failure in name resolution")));
    }

    #[test]
    fn errors_of_this_side_are_not_the_other_nodes() {
        use Errno as E;
        for errno in [E::NETUNREACH, E::NETDOWN, E::MFILE, E::ADDRNOTAVAIL, E::ACCESS, E::PERM] {
            assert_eq!(blame(&errno.into()), Blame::Ours, "{errno}");
        }
        assert_eq!(blame(&io::ErrorKind::TimedOut.into()), Blame::Open);
        assert_eq!(blame(&Errno::CONNREFUSED.into()), Blame::Theirs);
    }

    #[test]
    fn a_silent_node_is_blamed_unless_the_witness_is_silent_too() {
        let now = Instant::now();
        assert!(!short(&[]).is_cut_off(now), "nobody can say");
        assert!(!short(&["127.0.0.1:1"]).is_cut_off(now), "this node itself proves nothing");
        let reach = short(&[&format!("{NOBODY}:1")]);
        assert!(reach.is_cut_off(now));
        reach.heard();
        assert!(!reach.is_cut_off(now), "another node was heard");
        assert!(reach.is_cut_off(Instant::now()), "but not since");
    }

    #[test]
    fn a_word_of_this_node_proves_nothing() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert!(is_own(&stream));
        let port = listener.local_addr().unwrap().port();
        assert!(!short(&[&format!("127.0.0.1:{port}")]).is_cut_off(Instant::now()), "it would not be silent");
    }
}
