//! Starts a node with both roles of the daemon over real sockets, for tests.

use crate::budget::MemoryBudget;
use crate::jobs::{Order, ServedJobs};
use crate::local::Local;
use crate::metrics::Metrics;
use crate::outputs::Outputs;
use crate::own_link::Own;
use crate::pace::Pace;
use crate::peers::{Peers, MOST_PEERS};
use crate::reach::Reach;
use crate::testing::site::{job, own_uid, Reducer, Site};
use crate::supplier::Supplier;
use crate::transport::Transports;
use crate::wire::Refused;
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

pub const SECRET: &[u8] = b"a job's secret";
/// Addresses of one node: the daemon makes a connection of its own to each.
pub const HOSTS: [&str; 4] = ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"];

/// The patience of a node that soon gives up one that does wrong.
pub const SHORT: Pace = Pace {
    tick: Duration::from_millis(20),
    telling: Duration::from_secs(1),
    silent: Duration::from_secs(3),
    stalled: Duration::from_secs(3),
    unread: Duration::from_secs(3),
    proof: Duration::from_secs(10),
    block: || {},
};

/// A node that serves its own outputs, and asks its own daemon for them.
pub struct Node {
    pub site: Site,
    pub jobs: Arc<ServedJobs>,
    pub peers: Arc<Peers>,
    pub supplier: Arc<Supplier>,
    pub budget: Arc<MemoryBudget>,
    pub metrics: Arc<Metrics>,
    pub port: u16,
}

impl Node {
    pub fn start(most_peers: usize) -> Node {
        Node::at(most_peers, Pace::default())
    }

    pub fn at(most_peers: usize, pace: Pace) -> Node {
        Node::listening(TcpListener::bind("0.0.0.0:0").unwrap(), Some(most_peers), pace, Transports::Plain)
    }

    /// Starts a node as the daemon does: it asks itself without a connection.
    pub fn whole(listener: TcpListener, pace: Pace) -> Node {
        Node::listening(listener, None, pace, Transports::Plain)
    }

    /// Starts a node as the daemon does, with these transports between nodes.
    pub fn by(listener: TcpListener, pace: Pace, transports: Transports) -> Node {
        Node::listening(listener, None, pace, transports)
    }

    fn listening(listener: TcpListener, most_peers: Option<usize>, pace: Pace, transports: Transports) -> Node {
        let site = Site::new();
        let (jobs, metrics) = (Arc::new(ServedJobs::default()), Arc::new(Metrics::default()));
        jobs.obey(Order::Add(job(SECRET, own_uid()))).unwrap();
        let outputs = Arc::new(Outputs::new(&site.local_dirs(), Arc::clone(&metrics)));
        let reach = Arc::new(Reach::new(Vec::new()));
        let supplier = Supplier::new(
            Arc::clone(&jobs), outputs, Arc::clone(&metrics), Arc::clone(&reach), 8 << 20, pace, transports,
        );
        let listens = listener.local_addr().unwrap();
        let (port, own) = (listens.port(), Own { supplier: Arc::clone(&supplier), listens });
        let listening = Arc::clone(&supplier);
        thread::spawn(move || listening.listen(&listener));
        let peers = match most_peers {
            Some(most) => Peers::bounded(port, most, pace, reach, Arc::clone(&metrics)),
            None => Peers::new(own, pace, reach, Arc::clone(&metrics), MOST_PEERS, None),
        };
        let budget = MemoryBudget::new(8 << 20);
        let node = Node { site, jobs, peers, supplier, budget, metrics, port };
        node.open_door(pace);
        node
    }

    pub fn open_door(&self, pace: Pace) {
        let listener = UnixListener::bind(self.site.root.join("socket")).unwrap();
        let (jobs, peers, budget) = (Arc::clone(&self.jobs), Arc::clone(&self.peers), Arc::clone(&self.budget));
        let local = Local::new(jobs, peers, budget, Arc::clone(&self.metrics), pace);
        thread::spawn(move || local.listen(&listener));
    }

    pub fn reducer(&self, secret: &[u8]) -> Result<Reducer, Refused> {
        Reducer::connect(UnixStream::connect(self.site.root.join("socket")).unwrap(), secret)
    }
}

/// Returns listeners of two addresses at one port, as two nodes have.
pub fn two_listeners() -> [TcpListener; 2] {
    loop {
        let first = TcpListener::bind((HOSTS[0], 0)).unwrap();
        if let Ok(second) = TcpListener::bind((HOSTS[1], first.local_addr().unwrap().port())) {
            return [first, second];
        }
    }
}

pub fn until(is_so: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(std::time::Instant::now() < deadline, "it never was so");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Fetches a segment in pieces of `piece` bytes, compares every checksum, and returns the segment.
pub fn fetch(reducer: &mut Reducer, host: &str, map: u32, partition: u32, piece: u32) -> Vec<u8> {
    let looked = reducer.look(host, map, partition, 0).unwrap();
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < looked.stored_bytes {
        let left = looked.stored_bytes - bytes.len() as u64;
        let at = (bytes.len() as u64, u64::from(piece).min(left) as u32);
        bytes.extend(reducer.read(host, map, partition, at).unwrap());
    }
    let sums: Vec<u32> = bytes.chunks(64 << 10).map(crc32c::crc32c).collect();
    assert_eq!(sums, looked.checksums);
    bytes
}

/// Returns the part of a daemon that asks another listener than the node's own.
pub fn elsewhere(listener: &TcpListener, node: &Node) -> Arc<Peers> {
    elsewhere_of(listener, node, 2)
}

pub fn elsewhere_of(listener: &TcpListener, node: &Node, most: usize) -> Arc<Peers> {
    let (port, reach) = (listener.local_addr().unwrap().port(), Arc::new(Reach::new(Vec::new())));
    Peers::bounded(port, most, Pace::default(), reach, Arc::clone(&node.metrics))
}

/// Returns true, so that a call waits on at each sign of progress.
pub fn waits_on() -> bool {
    true
}

pub fn read(length: u32) -> crate::wire::Request {
    crate::wire::Request {
        map: crate::testing::site::attempt(0),
        partition: 0,
        ask: crate::wire::Ask::Read { offset: 0, length },
        host: HOSTS[0].to_owned(),
    }
}
