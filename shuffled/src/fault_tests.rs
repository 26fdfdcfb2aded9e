//! Tests of two daemons between which the transport does one wrong thing, at any place of what either end sends: the
//! greeting, proofs, requests, answers and bytes. A reducer gets the right bytes, wrong ones that its checksums show,
//! or a refusal in bounded time; and what it asks for afterwards.

use crate::peers::{Answered, CallResult};
use crate::random::Random;
use crate::testing::faulty::{Fault, FaultPlan};
use crate::testing::node::{read, two_listeners, until, waits_on, Node, SHORT};
use crate::testing::site::JOB;
use crate::transport::Transports;
use crate::wire::{Ask, RefusalReason, Refused, Request};
use std::panic::catch_unwind;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const BYTES: usize = 150_000;
const MOST_FETCHES: usize = 100;
/// The pause before a refused fetch is tried again: the thread of a broken connection has to end first.
const PAUSE: Duration = Duration::from_millis(100);
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Right,
    /// The bytes are wrong, and their checksums say so.
    Shown,
    Refused,
}

struct Pair {
    server: Node,
    client: Node,
    stored: Vec<u8>,
    sums: Vec<u32>,
}

impl Pair {
    fn new(of_server: Transports, of_client: Transports, random: &mut Random) -> Pair {
        let [first, second] = two_listeners();
        let (server, client) = (Node::by(first, SHORT, of_server), Node::by(second, SHORT, of_client));
        let stored = server.site.write(0, &[random.bytes(BYTES)]).remove(0);
        let sums = stored.chunks(64 << 10).map(crc32c::crc32c).collect();
        Pair { server, client, stored, sums }
    }

    fn call(&self, request: Request) -> CallResult {
        let begun = Instant::now();
        let answer = self.client.peers.call(&self.client.jobs.get(JOB).unwrap(), request, &mut waits_on);
        assert!(begun.elapsed() < Duration::from_secs(30), "an answer in bounded time");
        answer
    }

    /// Looks at the segment and reads it, as a reducer does, which compares each checksum.
    fn fetch(&self) -> Outcome {
        let look = Request { ask: Ask::Look { hold: 0, verify: true, sealed: false }, ..read(0) };
        let looked = match self.call(look) {
            Ok(Answered::Looked(looked)) => looked,
            Err(refused) => return is_of_the_wire(&refused),
            other => panic!("{other:?}"),
        };
        // A message has a tag: what it says is right, or it does not arrive.
        assert_eq!((looked.stored_bytes, &looked.checksums), (self.stored.len() as u64, &self.sums));
        match self.call(read(self.stored.len() as u32)) {
            Ok(Answered::Data(bytes)) if bytes == self.stored => Outcome::Right,
            Ok(Answered::Data(bytes)) => {
                assert_eq!(bytes.len(), self.stored.len());
                assert!(bytes.chunks(64 << 10).map(crc32c::crc32c).ne(self.sums.iter().copied()), "wrong, and unseen");
                Outcome::Shown
            }
            Err(refused) => is_of_the_wire(&refused),
            other => panic!("{other:?}"),
        }
    }
}

/// A fault of the wire is refused with a reason that may pass: the reducer asks again before it reports the map. A
/// proof that arrived wrong is one that is not allowed.
fn is_of_the_wire(refused: &Refused) -> Outcome {
    assert!(matches!(refused.why, RefusalReason::Unreachable | RefusalReason::NotAllowed), "{refused:?}");
    Outcome::Refused
}

fn fault(random: &mut Random) -> Fault {
    let count = 1 + random.below(40) as usize;
    match random.below(5) {
        0 => Fault::Flip(random.below(8) as u8),
        1 => Fault::Cut,
        2 => Fault::Lose(count),
        3 => Fault::Repeat(count),
        _ => Fault::Stall,
    }
}

/// Runs one history; returns what came of it, None if the fault's place was not reached.
fn history(seed: u64) -> Option<(bool, Fault, Outcome)> {
    let mut random = Random::new(seed);
    let is_server = random.below(3) > 0;
    let fault = fault(&mut random);
    // The client sends some 500 bytes. Half of the server's faults are at the beginning too.
    let most = if is_server && random.below(2) > 0 { BYTES as u64 } else { 500 };
    let plan = FaultPlan::new(fault, random.below(most), 1 + random.below(9000) as usize);
    let wrong = Transports::Faulty(Arc::clone(&plan));
    let pair = if is_server {
        Pair::new(wrong, Transports::Plain, &mut random)
    } else {
        Pair::new(Transports::Plain, wrong, &mut random)
    };
    let mut judged = None;
    // Where the fault is found late the next request may still meet its connection, and on a busy machine any request
    // may be given up; none of that may last.
    for _ in 0..MOST_FETCHES {
        let outcome = pair.fetch();
        if plan.has_happened() {
            let is_right = outcome == Outcome::Right;
            judged.get_or_insert(outcome);
            if is_right {
                until(|| pair.server.metrics.peers_in.get() <= 1 && pair.server.metrics.queued.get() == 0);
                return judged.map(|outcome| (is_server, fault, outcome));
            }
        } else {
            assert_ne!(outcome, Outcome::Shown, "wrong bytes without a fault");
            if outcome == Outcome::Right {
                return None;
            }
        }
        thread::sleep(PAUSE);
    }
    panic!("{MOST_FETCHES} fetches, and none was right");
}

/// Runs a history; a panic in it names the seed, with which `VAS_FAULT_SEED` runs it again.
fn named(seed: u64) -> Option<(bool, Fault, Outcome)> {
    catch_unwind(|| history(seed)).unwrap_or_else(|_| panic!("VAS_FAULT_SEED={seed} runs it again"))
}

#[test]
fn no_fault_of_the_wire_gives_wrong_bytes_unseen_or_lasts() {
    let first = std::env::var("VAS_FAULT_SEED").ok().map(|text| text.parse().expect("VAS_FAULT_SEED: a number"));
    let seeds: Vec<u64> = first.map_or_else(|| (0..160).collect(), |seed| vec![seed]);
    let run = |of: Vec<u64>| of.into_iter().filter_map(|seed| named(seed).map(|told| (seed, told))).collect::<Vec<_>>();
    let threads: Vec<_> = seeds.chunks(seeds.len().div_ceil(8)).map(|part| {
        let part = part.to_vec();
        thread::spawn(move || run(part))
    }).collect();
    let all: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    if first.is_some() {
        return;
    }
    assert!(all.len() > 100, "{} faults happened", all.len());
    for (seed, (_, fault, outcome)) in &all {
        match fault {
            // The rest of an answer is missing, or too much: none arrives whole.
            Fault::Cut | Fault::Stall => assert_ne!(*outcome, Outcome::Shown, "seed {seed}"),
            Fault::Flip(_) | Fault::Lose(_) | Fault::Repeat(_) => {}
        }
    }
    for wanted in [Outcome::Shown, Outcome::Refused] {
        assert!(all.iter().any(|(_, (_, _, outcome))| *outcome == wanted), "{wanted:?} never");
    }
    assert!(all.iter().any(|(_, (is_server, _, outcome))| !is_server && *outcome == Outcome::Refused));
}
