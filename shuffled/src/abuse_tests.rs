//! Tests of floods, slow connections and slow disks: who suffers by them, and who does not.

use crate::jobs::{Job, Order};
use crate::link::{greet, LinkRole};
use crate::names::JobKey;
use crate::testing::node::{elsewhere_of, fetch, read, until, waits_on, Node, HOSTS, SECRET};
use crate::pace::Pace;
use crate::random::NONCE;
use crate::shares::Payer;
use crate::testing::site::{job, own_uid, JOB};
use crate::wire::{Message, RefusalReason, Request, LARGEST_READ, MAC, MAGIC};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn a_disk_that_hangs_shows_no_progress() {
    fn for_ever() {
        thread::sleep(Duration::from_secs(3600));
    }
    let (tick, silent) = (Duration::from_millis(20), Duration::from_millis(200));
    let pace = Pace { tick, silent, block: for_ever, ..Pace::default() };
    let node = Node::at(2, pace);
    node.site.write(0, &[vec![3; 1000]]);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let refused = node.reducer(SECRET).unwrap().look(HOSTS[0], 0, 0, 0).unwrap_err();
                assert_eq!(refused.why, RefusalReason::Unreachable, "{}", refused.text);
            });
        }
    });
    // Such requests fill no window for ever, and keep no threads of connections that ended.
    until(|| node.peers.count() == 0);
    until(|| node.metrics.peers_in.get() == 0);
}

#[test]
fn connections_that_prove_nothing_do_not_fill_the_table() {
    let node = Node::start(2);
    let stored = node.site.write(0, &[vec![3; 100_000]]);
    let mut first = node.reducer(SECRET).unwrap();
    assert!(fetch(&mut first, HOSTS[0], 0, 0, LARGEST_READ) == stored[0]);
    let flood: Vec<_> = (0..400).map(|_| TcpStream::connect((HOSTS[0], node.port)).unwrap()).collect();
    let local_flood: Vec<_> =
        (0..700).map(|_| UnixStream::connect(node.site.root.join("socket")).unwrap()).collect();
    // The proven connections work on, and new ones are let in.
    assert!(fetch(&mut first, HOSTS[0], 0, 0, LARGEST_READ) == stored[0]);
    let mut second = node.reducer(SECRET).unwrap();
    assert!(fetch(&mut second, HOSTS[1], 0, 0, LARGEST_READ) == stored[0]);
    assert!(node.metrics.peers_in.get() < 100, "{} connections", node.metrics.peers_in.get());
    drop((flood, local_flood));
}

#[test]
fn who_proves_slowly_has_no_more_time() {
    let node = Node::at(2, Pace { proof: Duration::from_secs(2), ..Pace::default() });
    let mut slow = TcpStream::connect((HOSTS[0], node.port)).unwrap();
    let proof = Message::Auth { job: JOB, mac: [0; MAC] }.encode(1, false);
    let ended = [MAGIC.as_slice(), &[0; NONCE], &proof].concat().into_iter().find(|byte| {
        thread::sleep(Duration::from_millis(50));
        slow.write_all(&[*byte]).is_err()
    });
    assert!(ended.is_some());
}

#[test]
fn a_large_message_of_a_stranger_takes_no_memory() {
    let node = Node::start(2);
    let mut stream = TcpStream::connect((HOSTS[0], node.port)).unwrap();
    greet(&mut stream, LinkRole::Asker, String::new()).unwrap();
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
    let deadline = Instant::now() + Duration::from_secs(10);
    while node.budget.used() < 3 << 20 && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(10));
    }
    thread::sleep(Duration::from_millis(200));
    assert!(node.budget.used() <= 4 << 20, "{} of 8 MiB are one job's", node.budget.used());
    let payer = Payer { job: other, uid: own_uid() };
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
        let request = Request { host: format!("127.0.1.{number}"), ..read(10) };
        thread::spawn(move || peers.call(&job, request, &mut waits_on));
    }
    until(|| peers.count() >= 4);
    thread::sleep(Duration::from_millis(100));
    assert_eq!(peers.count(), 4, "half of the connections are one job's");
    let request = Request { host: "127.0.2.1".to_owned(), ..read(10) };
    let called = Arc::clone(&peers);
    thread::spawn(move || called.call(&other, request, &mut waits_on));
    until(|| peers.count() == 5);
}

#[test]
fn a_segment_that_takes_long_to_check_is_not_lost() {
    fn slowly() {
        thread::sleep(Duration::from_millis(300));
    }
    let (tick, silent) = (Duration::from_millis(100), Duration::from_secs(4));
    let pace = Pace { tick, silent, block: slowly, ..Pace::default() };
    let node = Node::at(2, pace);
    let stored = node.site.write(0, &[vec![3; 20 * 65_536]]);
    let mut reducer = node.reducer(SECRET).unwrap();
    let looked = reducer.look(HOSTS[0], 0, 0, 0).unwrap();
    assert_eq!(looked.stored_bytes, stored[0].len() as u64);
    assert!(reducer.1 >= 3, "told of progress {} times", reducer.1);
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
