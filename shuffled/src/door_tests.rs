use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

const LIMITS: Limits = Limits { unproven: 20, unproven_of_one: 5, proven: 30, proven_of_one: 4 };

#[derive(Default)]
struct Wire(AtomicBool);

impl Shut for Wire {
    fn shut(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

struct Connection {
    admission: Admission<u32>,
    wire: Arc<Wire>,
}

impl Connection {
    fn of(door: &Arc<Door<u32>>, peer: u32) -> Connection {
        let wire = Arc::new(Wire::default());
        Connection { admission: door.enter(peer, Arc::clone(&wire) as Arc<dyn Shut>), wire }
    }

    fn proven(door: &Arc<Door<u32>>, peer: u32, jobs: &[u32]) -> Connection {
        let connection = Connection::of(door, peer);
        connection.admission.proved(jobs.iter().map(|job| key(*job)).collect());
        connection
    }

    fn is_open(&self) -> bool {
        !self.wire.0.load(Ordering::SeqCst)
    }
}

fn key(number: u32) -> JobKey {
    JobKey { cluster: 1, number }
}

fn open(connections: &[Connection]) -> Vec<usize> {
    (0..connections.len()).filter(|at| connections[*at].is_open()).collect()
}

#[test]
fn the_oldest_unproven_connection_of_a_peer_ends_first() {
    let door = Door::new(LIMITS);
    let other = Connection::of(&door, 2);
    let flood: Vec<_> = (0..12).map(|_| Connection::of(&door, 1)).collect();
    assert_eq!(open(&flood), [7, 8, 9, 10, 11]);
    assert!(other.is_open() && other.admission.proved(BTreeSet::from([key(1)])));
    assert!(!flood[0].admission.proved(BTreeSet::from([key(1)])));
    assert!(flood[11].admission.proved(BTreeSet::from([key(1)])));
}

#[test]
fn a_flood_of_many_peers_ends_its_own_and_leaves_proven_ones_alone() {
    let door = Door::new(LIMITS);
    let proven: Vec<_> = (0..30).map(|peer| Connection::proven(&door, peer, &[peer])).collect();
    let alone = Connection::of(&door, 99);
    let flood: Vec<_> = (0..40).map(|number| Connection::of(&door, 1000 + number / 4)).collect();
    assert!(alone.is_open(), "its peer has one, others four");
    assert_eq!(open(&flood).len(), 19);
    assert_eq!(open(&proven).len(), 30);
    // One more proven connection ends one of the same kind, and none of a peer with fewer.
    assert!(alone.admission.proved(BTreeSet::from([key(1)])));
    assert_eq!(open(&proven).len(), 29);
}

#[test]
fn one_job_does_not_keep_another_of_the_same_peer_out() {
    let door = Door::new(LIMITS);
    let daemon = Connection::proven(&door, 1, &[1, 2]);
    let greedy: Vec<_> = (0..20).map(|_| Connection::proven(&door, 1, &[1])).collect();
    assert!(daemon.is_open(), "job 2 has no other");
    assert_eq!(open(&greedy), [17, 18, 19]);
    let third = Connection::proven(&door, 1, &[3]);
    assert!(third.is_open() && daemon.is_open());
}

#[test]
fn one_peer_does_not_keep_another_out() {
    let door = Door::new(Limits { proven: 6, proven_of_one: 6, ..LIMITS });
    let greedy: Vec<_> = (0..6).map(|job| Connection::proven(&door, 1, &[job])).collect();
    let others: Vec<_> = (2..5).map(|peer| Connection::proven(&door, peer, &[7])).collect();
    assert_eq!((open(&greedy).len(), open(&others).len()), (3, 3));
}

#[test]
fn who_leaves_takes_no_place() {
    let door = Door::new(LIMITS);
    for _ in 0..100 {
        drop(Connection::proven(&door, 1, &[1]));
        drop(Connection::of(&door, 1));
    }
    assert_eq!(door.lock().entries.len(), 0);
}
