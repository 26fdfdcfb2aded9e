//! Both roles of the daemon over real sockets: what a reducer gets, and what nobody gets.

use crate::budget::Budget;
use crate::jobs::{Job, Jobs, Order};
use crate::link::greet;
use crate::link::End;
use crate::local::Local;
use crate::metrics::Metrics;
use crate::names::JobKey;
use crate::outputs::Outputs;
use crate::pace::Pace;
use crate::peers::Peers;
use crate::random::Random;
use crate::reach::Reach;
use crate::site::{job, own_uid, Reducer, Site, JOB};
use crate::supplier::Supplier;
use crate::wire::{Accept, Message, Refusal, Refused, LARGEST_READ, MAC};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const SECRET: &[u8] = b"a job's secret";
/// Names of this one node: each is another connection.
const HOSTS: [&str; 4] = ["127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"];

/// A node that serves its own outputs, and asks its own daemon for them.
struct Node {
    site: Site,
    jobs: Arc<Jobs>,
    peers: Arc<Peers>,
    budget: Arc<Budget>,
    metrics: Arc<Metrics>,
    port: u16,
}

impl Node {
    fn start(most_peers: usize) -> Node {
        Node::at(most_peers, Pace::default())
    }

    fn at(most_peers: usize, pace: Pace) -> Node {
        let site = Site::new();
        let (jobs, metrics) = (Arc::new(Jobs::default()), Arc::new(Metrics::default()));
        jobs.obey(Order::Add(job(SECRET, own_uid()))).unwrap();
        let outputs = Arc::new(Outputs::new(&site.local_dirs()));
        let reach = Arc::new(Reach::new(Vec::new()));
        let supplier = Supplier::new(
            Arc::clone(&jobs), outputs, Arc::clone(&metrics), Arc::clone(&reach), 8 << 20, pace,
        );
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || supplier.listen(&listener));
        let peers = Peers::bounded(port, most_peers, pace, reach, Arc::clone(&metrics));
        let budget = Budget::new(8 << 20);
        let node = Node { site, jobs, peers, budget, metrics, port };
        node.open_door(pace);
        node
    }

    fn open_door(&self, pace: Pace) {
        let listener = UnixListener::bind(self.site.root.join("socket")).unwrap();
        let (jobs, peers, budget) = (Arc::clone(&self.jobs), Arc::clone(&self.peers), Arc::clone(&self.budget));
        let local = Local::new(jobs, peers, budget, Arc::clone(&self.metrics), pace);
        thread::spawn(move || local.listen(&listener));
    }

    fn reducer(&self, secret: &[u8]) -> Result<Reducer, Refused> {
        Reducer::connect(UnixStream::connect(self.site.root.join("socket")).unwrap(), secret)
    }
}

fn until(is_so: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(std::time::Instant::now() < deadline, "it never was so");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Fetches a segment in pieces of this size, and compares every checksum.
fn fetch(reducer: &mut Reducer, host: &str, map: u32, partition: u32, piece: u32) -> Vec<u8> {
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

#[test]
fn many_reducers_get_every_byte() {
    let node = Node::start(10);
    let mut random = Random::new(9);
    let stored: Vec<_> = (0..5).map(|map| node.site.write_random(&mut random, map, 4, 700_000)).collect();
    thread::scope(|scope| {
        for partition in 0..4 {
            let (node, stored) = (&node, &stored);
            scope.spawn(move || {
                let mut reducer = node.reducer(SECRET).unwrap();
                for (map, segments) in stored.iter().enumerate() {
                    let host = HOSTS[(map + partition) % HOSTS.len()];
                    let piece = [LARGEST_READ, 65_536, 100_000][map % 3];
                    let bytes = fetch(&mut reducer, host, map as u32, partition as u32, piece);
                    assert!(bytes == segments[partition], "map {map}, partition {partition}");
                }
            });
        }
    });
    assert_eq!(node.peers.count(), HOSTS.len());
    until(|| node.budget.used() == 0);
    let all: usize = stored.iter().flatten().map(Vec::len).sum();
    assert_eq!(node.metrics.served_bytes.get(), all as u64);
    assert!(node.metrics.text(1, 0).contains(&format!("vas_shuffled_served_bytes_total {all}\n")));
}

#[test]
fn connections_beyond_the_bound_end_the_oldest() {
    let node = Node::start(2);
    let stored = node.site.write(0, &[vec![3; 100_000]]);
    let mut reducer = node.reducer(SECRET).unwrap();
    for round in 0..12 {
        assert!(fetch(&mut reducer, HOSTS[round * 3 % 4], 0, 0, LARGEST_READ) == stored[0]);
        assert!(node.peers.count() <= 2);
    }
}

#[test]
fn who_does_not_know_the_secret_or_is_another_user_gets_nothing() {
    let node = Node::start(2);
    node.site.write(0, &[vec![3; 100]]);
    assert_eq!(node.reducer(b"another").err().unwrap().why, Refusal::NotAllowed);
    node.jobs.obey(Order::Add(job(SECRET, own_uid() + 1))).unwrap();
    assert_eq!(node.reducer(SECRET).err().unwrap().text, "another user's job");
    node.jobs.obey(Order::Remove(JOB)).unwrap();
    assert_eq!(node.reducer(SECRET).err().unwrap().why, Refusal::NotAllowed);
}

#[test]
fn a_job_that_is_over_is_not_served_on_old_connections() {
    let node = Node::start(2);
    node.site.write(0, &[vec![3; 100]]);
    let mut reducer = node.reducer(SECRET).unwrap();
    assert!(reducer.look(HOSTS[0], 0, 0, 0).is_ok());
    node.jobs.obey(Order::Remove(JOB)).unwrap();
    let request = Message::Ask(read(10)).encode(1, false);
    let _ = reducer.0.write_all(&request);
    assert!(crate::link::receive(&mut reducer.0, Accept::Answers).is_err(), "the connection ended");
    // The NodeManager tells it again: the old proofs are void, new ones are made.
    node.jobs.obey(Order::Add(job(SECRET, own_uid()))).unwrap();
    assert!(node.reducer(SECRET).unwrap().look(HOSTS[0], 0, 0, 0).is_ok());
}

#[test]
fn a_recorded_greeting_opens_nothing_a_second_time() {
    let node = Node::start(2);
    let mut first = TcpStream::connect((HOSTS[0], node.port)).unwrap();
    let ends = format!("{} {}", first.local_addr().unwrap(), first.peer_addr().unwrap());
    let transcript = greet(&mut first, End::Asker, ends).unwrap();
    let secret = crate::auth::Secret::new(SECRET.to_vec());
    let recorded = Message::Auth { job: JOB, mac: transcript.asker_proof(&secret, JOB) }.encode(0, false);
    assert!(matches!(answer(&mut first, &recorded), Message::Authenticated { .. }));
    let mut second = TcpStream::connect((HOSTS[0], node.port)).unwrap();
    greet(&mut second, End::Asker, String::new()).unwrap();
    assert!(matches!(answer(&mut second, &recorded), Message::Refused(_)));
}

fn answer(stream: &mut TcpStream, bytes: &[u8]) -> Message {
    stream.write_all(bytes).unwrap();
    crate::link::receive(stream, Accept::Answers).unwrap().message
}

#[test]
fn a_node_that_knows_no_secret_is_not_believed() {
    let node = Node::start(2);
    // A stranger answers at another port, where Peers of its own look.
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let peers = elsewhere(&stranger, &node);
    thread::spawn(move || {
        let (mut stream, _) = stranger.accept().unwrap();
        greet(&mut stream, End::Answerer, String::new()).unwrap();
        let asked = crate::link::receive(&mut stream, Accept::Requests).unwrap();
        let proof = Message::Authenticated { mac: [0; MAC] };
        stream.write_all(&proof.encode(asked.header.id, false)).unwrap();
        let _ = stream.read(&mut [0; 1000]);
    });
    let refused = peers.call(&node.jobs.get(JOB).unwrap(), read(10), &mut || true).unwrap_err();
    assert!(refused.text.contains("does not know the job's secret"), "{}", refused.text);
}

#[test]
fn a_relay_between_two_nodes_is_refused() {
    let node = Node::start(2);
    node.site.write(0, &[vec![3; 100]]);
    let relay = TcpListener::bind("127.0.0.1:0").unwrap();
    let peers = elsewhere(&relay, &node);
    let port = node.port;
    thread::spawn(move || {
        let (mut asker, _) = relay.accept().unwrap();
        let mut supplier = TcpStream::connect((HOSTS[0], port)).unwrap();
        let (mut asker_back, mut supplier_back) = (asker.try_clone().unwrap(), supplier.try_clone().unwrap());
        thread::spawn(move || std::io::copy(&mut asker, &mut supplier));
        let _ = std::io::copy(&mut supplier_back, &mut asker_back);
    });
    let refused = peers.call(&node.jobs.get(JOB).unwrap(), read(10), &mut || true).unwrap_err();
    assert_eq!(refused.why, Refusal::NotAllowed);
}

/// Returns what asks another listener than the node's own.
fn elsewhere(listener: &TcpListener, node: &Node) -> Arc<Peers> {
    elsewhere_of(listener, node, 2)
}

fn elsewhere_of(listener: &TcpListener, node: &Node, most: usize) -> Arc<Peers> {
    let (port, reach) = (listener.local_addr().unwrap().port(), Arc::new(Reach::new(Vec::new())));
    Peers::bounded(port, most, Pace::default(), reach, Arc::clone(&node.metrics))
}

fn read(length: u32) -> crate::wire::Request {
    crate::wire::Request {
        map: crate::site::attempt(0),
        partition: 0,
        ask: crate::wire::Ask::Read { offset: 0, length },
        host: HOSTS[0].to_owned(),
    }
}

#[test]
fn noise_stalls_and_half_closed_ends_disturb_nobody() {
    let node = Node::start(4);
    let stored = node.site.write(0, &[vec![3; 100_000]]);
    let mut random = Random::new(10);
    let mut silent = Vec::new();
    for _ in 0..40 {
        let mut stream = TcpStream::connect((HOSTS[0], node.port)).unwrap();
        let count = random.below(300) as usize;
        let noise = random.bytes(count);
        if count % 2 == 0 {
            let _ = greet(&mut stream, End::Asker, String::new());
        }
        let _ = stream.write_all(&noise);
        if count % 3 == 0 {
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        silent.push(stream);
    }
    let mut reducer = node.reducer(SECRET).unwrap();
    assert!(fetch(&mut reducer, HOSTS[1], 0, 0, LARGEST_READ) == stored[0]);
}

#[test]
fn pieces_that_are_not_there_are_refused() {
    let node = Node::start(2);
    node.site.write(0, &[vec![3; 100]]);
    let mut reducer = node.reducer(SECRET).unwrap();
    for at in [(0, 0), (0, 105), (104, 1), (u64::MAX, 2)] {
        assert_eq!(reducer.read(HOSTS[0], 0, 0, at).unwrap_err().why, Refusal::TooMuch, "{at:?}");
    }
    assert_eq!(reducer.look(HOSTS[0], 7, 0, 0).unwrap_err().why, Refusal::Gone);
    assert_eq!(reducer.read(HOSTS[0], 0, 0, (0, 104)).unwrap().len(), 104);
}

#[test]
fn a_node_that_is_away_is_said_to_be() {
    let node = Node::start(2);
    let mut reducer = node.reducer(SECRET).unwrap();
    assert_eq!(reducer.look("no-such-host.invalid", 0, 0, 0).unwrap_err().why, Refusal::Unreachable);
}

#[test]
fn a_file_that_shrinks_under_a_read_ends_the_connection_and_not_the_daemon() {
    let node = Node::start(2);
    node.site.write(0, &[vec![3; 300_000]]);
    let mut reducer = node.reducer(SECRET).unwrap();
    assert!(reducer.look(HOSTS[0], 0, 0, 0).is_ok());
    let file = std::fs::OpenOptions::new().write(true).open(node.site.output(0, 0).join("file.out")).unwrap();
    file.set_len(1000).unwrap();
    assert!(reducer.read(HOSTS[0], 0, 0, (0, 300_000)).is_err());
    file.write_all_at(&[3; 300_004], 0).unwrap();
    assert!(reducer.read(HOSTS[0], 0, 0, (0, 1000)).is_ok());
}

#[test]
fn a_reducer_that_goes_away_leaves_no_memory_behind() {
    let node = Node::start(2);
    let stored = node.site.write(0, &[vec![3; 1 << 20]]);
    for _ in 0..20 {
        let mut reducer = node.reducer(SECRET).unwrap();
        reducer.0.write_all(&Message::Ask(read(LARGEST_READ)).encode(1, false)).unwrap();
    }
    let mut reducer = node.reducer(SECRET).unwrap();
    assert!(fetch(&mut reducer, HOSTS[0], 0, 0, LARGEST_READ) == stored[0]);
    until(|| node.budget.used() == 0);
}

#[test]
fn a_segment_that_takes_long_to_check_is_not_lost() {
    fn slowly() {
        thread::sleep(Duration::from_millis(50));
    }
    let pace = Pace { tick: Duration::from_millis(60), silent: Duration::from_millis(250), block: slowly, ..Pace::default() };
    let node = Node::at(2, pace);
    let stored = node.site.write(0, &[vec![3; 20 * 65_536]]);
    let mut reducer = node.reducer(SECRET).unwrap();
    let looked = reducer.look(HOSTS[0], 0, 0, 0).unwrap();
    assert_eq!(looked.stored_bytes, stored[0].len() as u64);
    assert!(reducer.1 >= 3, "told of progress {} times", reducer.1);
}

#[test]
fn a_disk_that_hangs_shows_no_progress() {
    fn for_ever() {
        thread::sleep(Duration::from_secs(3600));
    }
    let pace = Pace { tick: Duration::from_millis(20), silent: Duration::from_millis(200), block: for_ever, ..Pace::default() };
    let node = Node::at(2, pace);
    node.site.write(0, &[vec![3; 1000]]);
    let mut reducer = node.reducer(SECRET).unwrap();
    let refused = reducer.look(HOSTS[0], 0, 0, 0).unwrap_err();
    assert_eq!(refused.why, Refusal::Unreachable, "{}", refused.text);
}

#[test]
fn connections_that_prove_nothing_do_not_fill_the_table() {
    let node = Node::at(2, Pace { proof: Duration::from_millis(300), ..Pace::default() });
    let stored = node.site.write(0, &[vec![3; 100_000]]);
    let mut first = node.reducer(SECRET).unwrap();
    assert!(fetch(&mut first, HOSTS[0], 0, 0, LARGEST_READ) == stored[0]);
    let mut flood: Vec<_> = (0..400).map(|_| TcpStream::connect((HOSTS[0], node.port)).unwrap()).collect();
    let mut local_flood: Vec<_> =
        (0..700).map(|_| UnixStream::connect(node.site.root.join("socket")).unwrap()).collect();
    // The proven connections work on, and new ones are let in.
    assert!(fetch(&mut first, HOSTS[0], 0, 0, LARGEST_READ) == stored[0]);
    let mut second = node.reducer(SECRET).unwrap();
    assert!(fetch(&mut second, HOSTS[1], 0, 0, LARGEST_READ) == stored[0]);
    assert!(node.metrics.peers_in.get() < 100, "{} connections", node.metrics.peers_in.get());
    // Nor does one live on by sending a byte now and then.
    let last = flood.last_mut().unwrap();
    let ended = (0..100).find(|_| {
        thread::sleep(Duration::from_millis(50));
        last.write_all(b"V").is_err()
    });
    assert!(ended.is_some_and(|times| times < 60));
    last.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    local_flood.clear();
}

#[test]
fn a_large_message_of_a_stranger_takes_no_memory() {
    let node = Node::start(2);
    let mut stream = TcpStream::connect((HOSTS[0], node.port)).unwrap();
    greet(&mut stream, End::Asker, String::new()).unwrap();
    // The header of an answer of a megabyte, which no asker sends.
    stream.write_all(&[&[0, 16, 0, 0, 5, 0], &[0; 8][..]].concat()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    assert!(matches!(stream.read(&mut [0; 10]), Ok(0)), "it is not waited for");
}

#[test]
fn a_slow_reducer_does_not_hold_what_others_need() {
    let node = Node::start(4);
    node.site.write(0, &[vec![3; 4 << 20]]);
    let other = JobKey { number: 77, ..JOB };
    node.jobs.obey(Order::Add(Job { key: other, ..job(SECRET, own_uid()) })).unwrap();
    // Reducers that ask for a megabyte each, and take nothing of it.
    let greedy: Vec<_> = (0..12)
        .map(|_| {
            let mut reducer = node.reducer(SECRET).unwrap();
            reducer.0.write_all(&Message::Ask(read(LARGEST_READ)).encode(1, false)).unwrap();
            reducer
        })
        .collect();
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while node.budget.used() < 3 << 20 && std::time::Instant::now() < deadline {
        thread::sleep(Duration::from_millis(10));
    }
    thread::sleep(Duration::from_millis(200));
    assert!(node.budget.used() <= 4 << 20, "{} of 8 MiB are one job's", node.budget.used());
    let payer = crate::shares::Payer { job: other, uid: own_uid() };
    assert!(node.budget.reserve(payer, 1 << 20, Duration::from_secs(1)).is_some());
    drop(greedy);
}

#[test]
fn a_job_that_names_silent_hosts_leaves_connections_to_others() {
    let silent = TcpListener::bind("0.0.0.0:0").unwrap();
    let node = Node::start(4);
    let peers = elsewhere_of(&silent, &node, 8);
    let other = Arc::new(Job { key: JobKey { number: 77, ..JOB }, ..job(SECRET, own_uid()) });
    let greedy = node.jobs.get(JOB).unwrap();
    for number in 1..=8 {
        let (peers, job) = (Arc::clone(&peers), Arc::clone(&greedy));
        let request = crate::wire::Request { host: format!("127.0.1.{number}"), ..read(10) };
        thread::spawn(move || peers.call(&job, request, &mut || true));
    }
    thread::sleep(Duration::from_millis(300));
    assert_eq!(peers.count(), 4, "half of the connections are one job's");
    let request = crate::wire::Request { host: "127.0.2.1".to_owned(), ..read(10) };
    let called = Arc::clone(&peers);
    thread::spawn(move || called.call(&other, request, &mut || true));
    thread::sleep(Duration::from_millis(300));
    assert_eq!(peers.count(), 5);
}

#[test]
fn a_secret_ends_with_its_job() {
    let node = Node::start(2);
    node.site.write(0, &[vec![3; 100]]);
    let mut reducer = node.reducer(SECRET).unwrap();
    assert!(reducer.look(HOSTS[0], 0, 0, 0).is_ok());
    let job = Arc::downgrade(&node.jobs.get(JOB).unwrap());
    node.jobs.obey(Order::Remove(JOB)).unwrap();
    // The connections stay, and hold it no longer than the last answer takes.
    until(|| job.upgrade().is_none());
}
