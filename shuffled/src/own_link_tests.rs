//! Tests of a node that fetches from itself: the same bytes by the same checks, and no connection.

use crate::jobs::{Job, Order};
use crate::names::JobKey;
use crate::own_link::Own;
use crate::pace::Pace;
use crate::random::Random;
use crate::testing::node::{fetch, read, until, waits_on, Node, HOSTS, SECRET};
use crate::testing::site::{attempt, job, own_uid, JOB};
use crate::wire::{RefusalReason, LARGEST_READ};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, thread};

/// Returns listeners of four addresses at one port, as four nodes have.
fn four_listeners() -> Vec<TcpListener> {
    loop {
        let first = TcpListener::bind((HOSTS[0], 0)).unwrap();
        let port = first.local_addr().unwrap().port();
        let others: Result<Vec<_>, _> = HOSTS[1..].iter().map(|host| TcpListener::bind((*host, port))).collect();
        // The port may be another program's at one of them.
        if let Ok(others) = others {
            return std::iter::once(first).chain(others).collect();
        }
    }
}

/// Returns how many connections the kernel has whose listening end is at this port.
fn established(port: u16) -> usize {
    const ESTABLISHED: &str = "01";
    let table = fs::read_to_string("/proc/self/net/tcp").unwrap();
    let is_one = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words[1].ends_with(&format!(":{port:04X}")) && words[3] == ESTABLISHED
    };
    table.lines().skip(1).filter(is_one).count()
}

fn alone() -> Node {
    Node::whole(TcpListener::bind("0.0.0.0:0").unwrap(), Pace::default())
}

#[test]
fn four_nodes_hold_one_connection_for_each_ordered_pair_of_different_ones() {
    let nodes: Vec<Node> = four_listeners().into_iter().map(|each| Node::whole(each, Pace::default())).collect();
    let mut random = Random::new(11);
    let stored: Vec<_> = nodes.iter().map(|node| node.site.write_random(&mut random, 0, 4, 300_000)).collect();
    thread::scope(|scope| {
        for (node, partition) in nodes.iter().flat_map(|node| (0..4).map(move |partition| (node, partition))) {
            let stored = &stored;
            scope.spawn(move || {
                let mut reducer = node.reducer(SECRET).unwrap();
                for (host, segments) in HOSTS.iter().zip(stored) {
                    assert!(fetch(&mut reducer, host, 0, partition, 100_000) == segments[partition as usize]);
                }
            });
        }
    });
    assert_eq!(established(nodes[0].port), 12);
    let [inward, outward] = [0, 1].map(|way| {
        let counts = nodes.iter().map(|node| [&node.metrics.peers_in, &node.metrics.peers_out][way].get());
        counts.collect::<Vec<_>>()
    });
    assert_eq!((inward, outward), (vec![3; 4], vec![3; 4]));
    // Each segment was fetched by four nodes: three times over the wire, once from the own disk.
    for (node, segments) in nodes.iter().zip(&stored) {
        let all: usize = segments.iter().map(Vec::len).sum();
        until(|| node.metrics.served_bytes.get() >= 3 * all as u64);
        assert_eq!((node.metrics.served_bytes.get(), node.metrics.own_bytes.get()), (3 * all as u64, all as u64));
    }
}

#[test]
fn a_node_alone_listens_in_vain() {
    let node = alone();
    let stored = node.site.write(0, &[vec![3; 3_000_000], vec![4; 100]]);
    let mut reducer = node.reducer(SECRET).unwrap();
    assert!(fetch(&mut reducer, HOSTS[0], 0, 0, LARGEST_READ) == stored[0]);
    assert!(reducer.look(HOSTS[0], 0, 1, 4096).unwrap().held == stored[1]);
    assert_eq!(established(node.port), 0);
    until(|| node.budget.used() == 0);
}

#[test]
fn only_what_ends_here_is_this_nodes_own() {
    let node = alone();
    let own = |listens: &str| Own { supplier: Arc::clone(&node.supplier), listens: listens.parse().unwrap() };
    let is_at = |listens: &str, address: &str| own(listens).is_at(&address.parse().unwrap());
    assert!(is_at("[::]:7", "127.0.0.1:7") && is_at("[::]:7", "[::1]:7") && is_at("0.0.0.0:7", "127.0.0.9:7"));
    assert!(is_at("127.0.0.2:7", "127.0.0.2:7") && is_at("[::]:7", "[::ffff:127.0.0.1]:7"));
    assert!(!is_at("127.0.0.2:7", "127.0.0.3:7"), "another daemon may listen there");
    assert!(!is_at("0.0.0.0:7", "[::1]:7"), "nobody listens there");
    assert!(!is_at("[::]:7", "127.0.0.1:8"), "another port");
    assert!(!is_at("[::]:7", "192.0.2.1:7") && !is_at("[::]:7", "[2001:db8::1]:7"), "another machine");
}

#[test]
fn the_checks_of_other_nodes_outputs_are_made_of_own_ones_too() {
    let node = alone();
    node.site.write(0, &[vec![3; 1000]]);
    let mut reducer = node.reducer(SECRET).unwrap();
    // Index bounds.
    for at in [(0, 0), (0, 1005), (1004, 1), (u64::MAX, 2)] {
        assert_eq!(reducer.read(HOSTS[0], 0, 0, at).unwrap_err().why, RefusalReason::TooMuch, "{at:?}");
    }
    assert_eq!(reducer.look(HOSTS[0], 0, 1, 0).unwrap_err().why, RefusalReason::Damaged, "no such partition");
    assert_eq!(reducer.look(HOSTS[0], 7, 0, 0).unwrap_err().why, RefusalReason::Gone);
    // A link in place of an output, whose target is right.
    node.site.write(1, &[vec![3; 1000]]);
    let file = node.site.output(1, 0).join("file.out");
    fs::rename(&file, node.site.root.join("elsewhere")).unwrap();
    symlink(node.site.root.join("elsewhere"), &file).unwrap();
    assert_eq!(reducer.look(HOSTS[0], 1, 0, 0).unwrap_err().why, RefusalReason::Gone);
    // A flipped bit.
    node.site.write(2, &[vec![3; 1000]]);
    let file = node.site.output(2, 0).join("file.out");
    let mut bytes = fs::read(&file).unwrap();
    bytes[500] ^= 1;
    fs::write(&file, bytes).unwrap();
    assert_eq!(reducer.look(HOSTS[0], 2, 0, 0).unwrap_err().why, RefusalReason::Damaged);
    assert_eq!(established(node.port), 0);
}

#[test]
fn another_users_files_and_a_job_that_is_over_are_not_read() {
    let node = alone();
    node.site.write(0, &[vec![3; 1000]]);
    let mut reducer = node.reducer(SECRET).unwrap();
    assert!(reducer.look(HOSTS[0], 0, 0, 0).is_ok());
    let call = |job: &Arc<Job>| {
        let request = read(10);
        node.peers.call(job, request, &mut waits_on)
    };
    let before = node.jobs.get(JOB).unwrap();
    // The job is told again, of another user, whose files these are not.
    node.jobs.obey(Order::Add(job(SECRET, own_uid() + 1))).unwrap();
    assert_eq!(call(&before).unwrap_err().why, RefusalReason::NotAllowed);
    // As the daemon does with each order.
    node.supplier.outputs.forget_job(JOB);
    let now = node.jobs.get(JOB).unwrap();
    assert_eq!(call(&now).unwrap_err().why, RefusalReason::Gone);
    node.jobs.obey(Order::Remove(JOB)).unwrap();
    assert_eq!(call(&now).unwrap_err().why, RefusalReason::NotAllowed);
}

#[test]
fn a_job_gets_the_outputs_of_its_own_number_only() {
    let node = alone();
    node.site.write(0, &[vec![3; 1000]]);
    let other = JobKey { number: 77, ..JOB };
    node.jobs.obey(Order::Add(Job { key: other, ..job(b"another", own_uid()) })).unwrap();
    let other_job = node.jobs.get(other).unwrap();
    let map = crate::names::MapAttemptId { job: other, ..attempt(0) };
    let request = crate::wire::Request { map, ..read(10) };
    assert_eq!(node.peers.call(&other_job, request, &mut waits_on).unwrap_err().why, RefusalReason::Gone);
    assert_eq!(node.reducer(b"another").err().unwrap().why, RefusalReason::NotAllowed);
}

#[test]
fn a_disk_that_hangs_shows_no_progress_and_a_slow_one_does() {
    fn for_ever() {
        thread::sleep(Duration::from_secs(3600));
    }
    fn slowly() {
        thread::sleep(Duration::from_millis(300));
    }
    let any = || TcpListener::bind("0.0.0.0:0").unwrap();
    let (tick, silent) = (Duration::from_millis(20), Duration::from_millis(200));
    let node = Node::whole(any(), Pace { tick, silent, block: for_ever, ..Pace::default() });
    node.site.write(0, &[vec![3; 1000]]);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let refused = node.reducer(SECRET).unwrap().look(HOSTS[0], 0, 0, 0).unwrap_err();
                assert_eq!(refused.why, RefusalReason::Unreachable, "{}", refused.text);
            });
        }
    });
    until(|| node.peers.count() == 0);

    let (tick, silent) = (Duration::from_millis(100), Duration::from_secs(4));
    let node = Node::whole(any(), Pace { tick, silent, block: slowly, ..Pace::default() });
    let stored = node.site.write(0, &[vec![3; 20 * 65_536]]);
    let mut reducer = node.reducer(SECRET).unwrap();
    assert_eq!(reducer.look(HOSTS[0], 0, 0, 0).unwrap().stored_bytes, stored[0].len() as u64);
    assert!(reducer.1 >= 3, "told of progress {} times", reducer.1);
}

#[test]
fn a_file_that_shrinks_under_a_read_is_refused() {
    let node = alone();
    node.site.write(0, &[vec![3; 300_000]]);
    let mut reducer = node.reducer(SECRET).unwrap();
    assert!(reducer.read(HOSTS[0], 0, 0, (0, 1000)).is_ok());
    let file = fs::OpenOptions::new().write(true).open(node.site.output(0, 0).join("file.out")).unwrap();
    file.set_len(1000).unwrap();
    assert_eq!(reducer.read(HOSTS[0], 0, 0, (0, 300_000)).unwrap_err().why, RefusalReason::Damaged);
}
