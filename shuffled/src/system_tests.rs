//! Tests of both roles of the daemon over real sockets: what a reducer gets, and what nobody gets.

use crate::jobs::Order;
use crate::link::{greet, LinkRole};
use crate::metrics::Gauges;
use crate::testing::node::{elsewhere, fetch, read, until, waits_on, Node, HOSTS, SECRET};
use crate::random::Random;
use crate::testing::site::{job, own_uid, JOB};
use crate::wire::{Accept, Message, RefusalReason, Refused, LARGEST_READ, MAC};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::thread;

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
    // Bytes are counted after they were sent: the last reducer may have them a moment earlier.
    until(|| node.metrics.served_bytes.get() >= all as u64);
    assert_eq!(node.metrics.served_bytes.get(), all as u64);
    assert!(node.metrics.text(&Gauges::default()).contains(&format!("vas_shuffled_served_bytes_total {all}\n")));
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
    let mut kept = Vec::new();
    for host in [0, 1, 0, 2, 0, 3] {
        assert!(fetch(&mut reducer, HOSTS[host], 0, 0, LARGEST_READ) == stored[0]);
        kept = node.peers.hosts();
    }
    assert_eq!(kept, [HOSTS[0], HOSTS[3]], "the one that was used in between stays");
}

#[test]
fn who_does_not_know_the_secret_or_is_another_user_gets_nothing() {
    let node = Node::start(2);
    node.site.write(0, &[vec![3; 100]]);
    assert_eq!(node.reducer(b"another").err().unwrap().why, RefusalReason::NotAllowed);
    node.jobs.obey(Order::Add(job(SECRET, own_uid() + 1))).unwrap();
    assert_eq!(node.reducer(SECRET).err().unwrap().text, "another user's job");
    node.jobs.obey(Order::Remove(JOB)).unwrap();
    assert_eq!(node.reducer(SECRET).err().unwrap().why, RefusalReason::NotAllowed);
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
    // The connection ended, or a thread that was just ending the look still knew the job, and was refused.
    let got = crate::link::receive(&mut reducer.0, Accept::Answers).map(|received| received.message);
    let is_refused = matches!(&got, Err(_) | Ok(Message::Refused(Refused { why: RefusalReason::NotAllowed, .. })));
    assert!(is_refused, "{got:?}");
    // The NodeManager tells it again: the old proofs are void, new ones are made.
    node.jobs.obey(Order::Add(job(SECRET, own_uid()))).unwrap();
    assert!(node.reducer(SECRET).unwrap().look(HOSTS[0], 0, 0, 0).is_ok());
}

#[test]
fn a_recorded_greeting_opens_nothing_a_second_time() {
    let node = Node::start(2);
    let mut first = TcpStream::connect((HOSTS[0], node.port)).unwrap();
    let ends = format!("{} {}", first.local_addr().unwrap(), first.peer_addr().unwrap());
    let transcript = greet(&mut first, LinkRole::Asker, ends).unwrap();
    let secret = crate::auth::Secret::new(SECRET.to_vec());
    let recorded = Message::Auth { job: JOB, mac: transcript.asker_proof(&secret, JOB) }.encode(0, false);
    assert!(matches!(answer(&mut first, &recorded), Message::Authenticated { .. }));
    let mut second = TcpStream::connect((HOSTS[0], node.port)).unwrap();
    greet(&mut second, LinkRole::Asker, String::new()).unwrap();
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
        greet(&mut stream, LinkRole::Answerer, String::new()).unwrap();
        let asked = crate::link::receive(&mut stream, Accept::Requests).unwrap();
        let proof = Message::Authenticated { mac: [0; MAC] };
        stream.write_all(&proof.encode(asked.header.id, false)).unwrap();
        let _ = stream.read(&mut [0; 1000]);
    });
    let refused = peers.call(&node.jobs.get(JOB).unwrap(), read(10), &mut waits_on).unwrap_err();
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
    let refused = peers.call(&node.jobs.get(JOB).unwrap(), read(10), &mut waits_on).unwrap_err();
    assert_eq!(refused.why, RefusalReason::NotAllowed);
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
            let _ = greet(&mut stream, LinkRole::Asker, String::new());
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
        assert_eq!(reducer.read(HOSTS[0], 0, 0, at).unwrap_err().why, RefusalReason::TooMuch, "{at:?}");
    }
    assert_eq!(reducer.look(HOSTS[0], 7, 0, 0).unwrap_err().why, RefusalReason::Gone);
    assert_eq!(reducer.read(HOSTS[0], 0, 0, (0, 104)).unwrap().len(), 104);
}

#[test]
fn a_node_that_is_away_is_said_to_be() {
    let node = Node::start(2);
    let mut reducer = node.reducer(SECRET).unwrap();
    assert_eq!(reducer.look("no-such-host.invalid", 0, 0, 0).unwrap_err().why, RefusalReason::Unreachable);
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
