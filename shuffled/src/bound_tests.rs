//! Tests of what the daemon may hold: memory where one partition has nearly all bytes, files on a full disk, and nodes
//! of another version.

use crate::random::{Random, NONCE};
use crate::testing::ifile::stream;
use crate::testing::merger::{merge, publish};
use crate::testing::node::{elsewhere, fetch, read, until, waits_on, Node, HOSTS, SECRET};
use crate::testing::process::DaemonProcess;
use crate::testing::site::JOB;
use crate::merge::order::WritableOrder;
use crate::wire::{RefusalReason, LARGEST_READ, MAGIC};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

/// Reducers of the partition that has nearly all bytes: they want more than the daemon may hold.
const GREEDY: usize = 14;
const SMALL: u32 = 40;

#[test]
fn memory_stays_within_its_bound_where_one_partition_has_nearly_all_bytes() {
    let node = Node::start(4);
    let mut random = Random::new(71);
    let mut stored = Vec::new();
    for map in 0..2 {
        let mut segments = vec![random.bytes(5 << 20)];
        segments.extend((0..SMALL).map(|number| random.bytes(1000 + number as usize)));
        stored.push(node.site.write(map, &segments));
    }
    thread::scope(|scope| {
        let partitions = (0..GREEDY).map(|_| 0).chain(1..=SMALL);
        for (number, partition) in partitions.enumerate() {
            let (node, stored) = (&node, &stored);
            scope.spawn(move || {
                let mut reducer = node.reducer(SECRET).unwrap();
                for map in [number % 2, (number + 1) % 2] {
                    let host = HOSTS[number % HOSTS.len()];
                    let bytes = fetch(&mut reducer, host, map as u32, partition, LARGEST_READ);
                    assert!(bytes == stored[map][partition as usize], "map {map}, partition {partition}");
                }
            });
        }
    });
    let (most, bound) = (node.budget.most(), node.budget.all());
    assert!(most <= bound, "{most} bytes were held, and {bound} may be");
    assert!(most > bound / 4, "{most} bytes of {bound} press nobody");
    until(|| node.budget.used() == 0);
}

#[test]
fn merges_of_one_large_segment_and_many_small_ones_stay_within_the_bound() {
    let node = Node::start(4);
    let int = |number: i32, bytes: usize| (number.to_be_bytes().to_vec(), vec![number as u8; bytes]);
    let mut records = vec![(0..4000).map(|number| int(number, 1000)).collect::<Vec<_>>()];
    records.extend((0..24).map(|map| vec![int(map, 10)]));
    let words = publish(&node, &records);
    let right = stream(&crate::testing::ifile::merged(WritableOrder::Int, &records));
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                // Where merges have their share of the memory, a reducer takes segments.
                if let Ok((got, end)) = merge(&node, WritableOrder::Int, &words) {
                    assert!(got == right && end.is_ok());
                }
            });
        }
    });
    let most = node.budget.most();
    assert!(most > 1 << 20 && most <= node.budget.all() / 2, "{most} bytes of {}", node.budget.all());
}

/// Returns the files below a directory with their bytes; sockets, which have none, by their names.
fn tree(below: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(below).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match fs::symlink_metadata(&path).unwrap().file_type() {
            kind if kind.is_dir() => tree(&path).into_iter().collect::<Vec<_>>(),
            kind if kind.is_file() => vec![(path.clone(), fs::read(&path).unwrap())],
            _ => vec![(path, Vec::new())],
        })
        .collect()
}

#[test]
fn a_daemon_that_may_write_no_byte_serves_all_the_same() {
    let mut daemon = DaemonProcess::start("--memory 8");
    let mut random = Random::new(72);
    let stored = daemon.site.write_random(&mut random, 0, 4, 300_000);
    let before = tree(&daemon.site.root);
    let mut reducer = daemon.reducer();
    for (partition, bytes) in stored.iter().enumerate() {
        assert!(fetch(&mut reducer, "127.0.0.1", 0, partition as u32, 65_536) == *bytes);
    }
    // A node of another version tells both ends.
    let mut other = TcpStream::connect(("127.0.0.1", daemon.port)).unwrap();
    other.write_all(&[b"VASJBS01".as_slice(), &[7; NONCE]].concat()).unwrap();
    let mut greeting = [0; MAGIC.len() + NONCE];
    other.read_exact(&mut greeting).unwrap();
    assert_eq!(greeting[..MAGIC.len()], *MAGIC, "the other end learns this version");
    assert!(matches!(other.read(&mut [0; 10]), Ok(0) | Err(_)), "the connection ends");
    let line = daemon.line("VASJBS01");
    assert!(line.starts_with("127.0.0.1 speaks VASJBS01 of vas-shuffled, and this node VASJBS02: install"), "{line}");
    assert!(tree(&daemon.site.root) == before, "files were made, or changed");
    assert_eq!(before.len(), 4, "a map's output and index, and a socket in each local directory");
    assert!(daemon.end());
}

#[test]
fn a_node_of_another_version_is_named_to_the_reducer() {
    let node = Node::start(2);
    let next = TcpListener::bind("127.0.0.1:0").unwrap();
    let peers = elsewhere(&next, &node);
    thread::spawn(move || {
        for stream in next.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.write_all(&[b"VASJBS03".as_slice(), &[7; NONCE]].concat());
            let _ = stream.read(&mut [0; 64]);
        }
    });
    let job = node.jobs.get(JOB).unwrap();
    let refused = peers.call(&job, read(10), &mut waits_on).unwrap_err();
    assert_eq!(refused.why, RefusalReason::Unreachable);
    let text = "127.0.0.1: speaks VASJBS03 of vas-shuffled, and this node VASJBS02";
    assert!(refused.text.contains(text), "{}", refused.text);
}
