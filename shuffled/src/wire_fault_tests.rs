//! Tests of nodes that know the job's secret and still do wrong: bits that flip on the wire, answers that stall,
//! come by the byte, end early or come twice, and askers that take nothing.

use crate::auth::{Direction, Secret, SessionKey, Transcript};
use crate::jobs::Job;
use crate::link::{greet, receive, sealed, LinkRole};
use crate::peers::{Answered, Peers};
use crate::reach::Reach;
use crate::served::{plain, WINDOW};
use crate::testing::node::{elsewhere, fetch, read, until, waits_on, Node, HOSTS, SECRET, SHORT};
use crate::testing::site::JOB;
use crate::wire::{Accept, Ask, LookAnswer, Message, RefusalReason, Request, LARGEST_READ};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::thread;

const BYTES: u32 = 200_000;

/// Answers a read wrongly: gets the stream, the right answer's header with its tag, and its bytes.
type Script = fn(&mut TcpStream, &[u8], &[u8]) -> io::Result<()>;

fn right() -> Vec<u8> {
    (0..BYTES).map(|number| (number % 251) as u8).collect()
}

/// Serves one connection after another as a node that proves the job, and then follows the script.
fn faulty(script: Script) -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let accepting = listener.try_clone().unwrap();
    thread::spawn(move || {
        for stream in accepting.incoming() {
            let _ = answer_all(&mut stream.unwrap(), script);
        }
    });
    listener
}

fn answer_all(stream: &mut TcpStream, script: Script) -> io::Result<()> {
    let ends = format!("{} {}", plain(stream.peer_addr()?), plain(stream.local_addr()?));
    let transcript = greet(stream, LinkRole::Answerer, ends)?;
    let secret = Secret::new(SECRET.to_vec());
    let session = transcript.session(&secret, JOB);
    let mut place = 0;
    loop {
        let received = receive(stream, Accept::Requests)?;
        let id = received.header.id;
        let Message::Ask(request) = received.message else {
            let mac = transcript.answerer_proof(&secret, JOB);
            stream.write_all(&Message::Authenticated { mac }.encode(id, false))?;
            continue;
        };
        let bytes = right();
        let message = match request.ask {
            Ask::Look { .. } => Message::Looked(looked(&bytes)),
            Ask::Read { length, .. } => Message::Data { length },
        };
        let head = sealed(&message, id, &session, Direction::Answered, place);
        place += 1;
        match request.ask {
            Ask::Look { .. } => stream.write_all(&head)?,
            Ask::Read { length, .. } => script(stream, &head, &bytes[..length as usize])?,
        }
    }
}

fn looked(bytes: &[u8]) -> LookAnswer {
    let checksums = bytes.chunks(64 << 10).map(crc32c::crc32c).collect();
    LookAnswer { stored_bytes: bytes.len() as u64, raw_bytes: bytes.len() as u64, checksums, held: vec![] }
}

fn peers(listener: &TcpListener, node: &Node) -> Arc<Peers> {
    let port = listener.local_addr().unwrap().port();
    Peers::bounded(port, 2, SHORT, Arc::new(Reach::new(Vec::new())), Arc::clone(&node.metrics))
}

/// Asks a faulty node for all bytes; returns the answer, and the connections that are open a while later.
fn asked(script: Script) -> Result<Answered, crate::wire::Refused> {
    let node = Node::start(2);
    let peers = peers(&faulty(script), &node);
    let job: Arc<Job> = node.jobs.get(JOB).unwrap();
    let begun = Instant::now();
    let answer = peers.call(&job, read(BYTES), &mut waits_on);
    assert!(begun.elapsed() < Duration::from_secs(60), "an answer in bounded time");
    if answer.is_err() {
        // Requests of the same connection are not lost: the next has a new one.
        until(|| peers.count() == 0);
        let look = Request { ask: Ask::Look { hold: 0, verify: true, sealed: false }, ..read(0) };
        assert!(matches!(peers.call(&job, look, &mut waits_on), Ok(Answered::Looked(_))));
    }
    answer
}

#[test]
fn a_node_that_does_nothing_wrong_is_believed() {
    let answer = asked(|stream, head, bytes| stream.write_all(&[head, bytes].concat()));
    assert_eq!(answer, Ok(Answered::Data(right())));
}

#[test]
fn a_bit_that_flips_in_the_bytes_is_in_no_checksum() {
    let answer = asked(|stream, head, bytes| {
        let mut wrong = bytes.to_vec();
        wrong[150_000] ^= 4;
        stream.write_all(&[head, &wrong].concat())
    });
    let Ok(Answered::Data(bytes)) = answer else { panic!("{answer:?}") };
    // As the reducer compares them, which NodeWireTest shows of Java.
    let sums = looked(&bytes).checksums;
    let right = looked(&right()).checksums;
    let wrong: Vec<usize> = (0..right.len()).filter(|at| sums[*at] != right[*at]).collect();
    assert_eq!(wrong, [150_000 >> 16]);
}

#[test]
fn a_bit_that_flips_in_a_message_or_its_tag_ends_the_connection() {
    for at in [4, 5, 13, 14, 17, 18, 33] {
        // A function pointer holds no state, so the place travels in a thread of its own.
        let script: Script = match at {
            4 => |stream, head, bytes| flipped(stream, head, bytes, 4),
            5 => |stream, head, bytes| flipped(stream, head, bytes, 5),
            13 => |stream, head, bytes| flipped(stream, head, bytes, 13),
            14 => |stream, head, bytes| flipped(stream, head, bytes, 14),
            17 => |stream, head, bytes| flipped(stream, head, bytes, 17),
            18 => |stream, head, bytes| flipped(stream, head, bytes, 18),
            _ => |stream, head, bytes| flipped(stream, head, bytes, 33),
        };
        assert_eq!(asked(script).unwrap_err().why, RefusalReason::Unreachable, "byte {at}");
    }
}

fn flipped(stream: &mut TcpStream, head: &[u8], bytes: &[u8], at: usize) -> io::Result<()> {
    let mut wrong = head.to_vec();
    wrong[at] ^= 2;
    stream.write_all(&[&wrong, bytes].concat())
}

#[test]
fn an_answer_that_stalls_is_given_up() {
    let answer = asked(|stream, head, bytes| {
        stream.write_all(&[head, &bytes[..100_000]].concat())?;
        stream.read_exact(&mut [0; 1])
    });
    assert_eq!(answer.unwrap_err().why, RefusalReason::Unreachable);
}

#[test]
fn requests_on_their_way_and_those_that_wait_are_counted() {
    static GO: AtomicBool = AtomicBool::new(false);
    let node = Node::start(2);
    let peers = elsewhere(&faulty(|stream, head, bytes| {
        while !GO.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(5));
        }
        stream.write_all(&[head, bytes].concat())
    }), &node);
    let job = node.jobs.get(JOB).unwrap();
    assert_eq!(peers.under_way(), (0, 0));
    let asked: Vec<_> = (0..WINDOW).map(|_| peers.ask(&job, &read(BYTES)).unwrap()).collect();
    // A job alone has half of the credits.
    until(|| peers.under_way() == (WINDOW as u64 / 2, WINDOW as u64 / 2));
    GO.store(true, Ordering::SeqCst);
    assert!(asked.iter().all(|each| peers.wait(each, &mut waits_on) == Ok(Answered::Data(right()))));
    until(|| peers.under_way() == (0, 0));
}

#[test]
fn an_answer_that_comes_by_the_byte_is_given_up() {
    let answer = asked(|stream, head, bytes| {
        stream.write_all(head)?;
        bytes.iter().try_for_each(|byte| {
            thread::sleep(Duration::from_millis(20));
            stream.write_all(&[*byte])
        })
    });
    assert_eq!(answer.unwrap_err().why, RefusalReason::Unreachable);
}

#[test]
fn an_answer_that_ends_early_is_no_answer() {
    let answer = asked(|stream, head, bytes| {
        stream.write_all(&[head, &bytes[..100_000]].concat())?;
        // Half-closed: this end still listens.
        stream.shutdown(Shutdown::Write)?;
        stream.read_exact(&mut [0; 1])
    });
    assert_eq!(answer.unwrap_err().why, RefusalReason::Unreachable);
}

#[test]
fn an_answer_that_comes_twice_ends_the_connection() {
    let node = Node::start(2);
    let peers = peers(&faulty(|stream, head, bytes| stream.write_all(&[head, bytes, head, bytes].concat())), &node);
    let job = node.jobs.get(JOB).unwrap();
    assert_eq!(peers.call(&job, read(BYTES), &mut waits_on), Ok(Answered::Data(right())));
    until(|| peers.count() == 0);
}

/// Connects to a node as another one that knows the job.
fn asker(node: &Node) -> (TcpStream, Transcript, SessionKey) {
    let mut stream = TcpStream::connect((HOSTS[0], node.port)).unwrap();
    let ends = format!("{} {}", stream.local_addr().unwrap(), stream.peer_addr().unwrap());
    let transcript = greet(&mut stream, LinkRole::Asker, ends).unwrap();
    let secret = Secret::new(SECRET.to_vec());
    let proof = Message::Auth { job: JOB, mac: transcript.asker_proof(&secret, JOB) };
    stream.write_all(&proof.encode(0, false)).unwrap();
    assert!(matches!(receive(&mut stream, Accept::Answers).unwrap().message, Message::Authenticated { .. }));
    let session = transcript.session(&secret, JOB);
    (stream, transcript, session)
}

fn ask(stream: &mut TcpStream, session: &SessionKey, count: usize, length: u32) {
    for place in 0..count as u64 {
        let request = Request { host: String::new(), ..read(length) };
        stream.write_all(&sealed(&Message::Ask(request), 1 + place, session, Direction::Asked, place)).unwrap();
    }
}

#[test]
fn an_asker_that_takes_nothing_ends_and_holds_nobody_up() {
    let node = Node::at(2, SHORT);
    let stored = node.site.write(0, &[vec![3; 4 << 20]]);
    let (mut stalled, _, session) = asker(&node);
    ask(&mut stalled, &session, WINDOW, LARGEST_READ);
    let mut reducer = node.reducer(SECRET).unwrap();
    assert!(fetch(&mut reducer, HOSTS[1], 0, 0, LARGEST_READ) == stored[0]);
    // The one of the reducer stays.
    until(|| node.metrics.peers_in.get() == 1);
}

#[test]
fn a_half_closed_asker_leaves_nothing_behind() {
    let node = Node::at(2, SHORT);
    node.site.write(0, &[vec![3; 100_000]]);
    for _ in 0..20 {
        let (mut half, _, session) = asker(&node);
        ask(&mut half, &session, 3, 1000);
        half.shutdown(Shutdown::Write).unwrap();
        let _ = half.read_to_end(&mut Vec::new());
    }
    until(|| node.metrics.peers_in.get() == 0 && node.metrics.queued.get() == 0);
}

#[test]
fn a_request_that_is_sent_again_ends_the_connection() {
    let node = Node::start(2);
    node.site.write(0, &[vec![3; 100_000]]);
    let (mut stream, _, session) = asker(&node);
    let request = Request { host: String::new(), ..read(1000) };
    let sent = sealed(&Message::Ask(request), 1, &session, Direction::Asked, 0);
    stream.write_all(&[sent.clone(), sent].concat()).unwrap();
    let mut answered = Vec::new();
    let _ = stream.read_to_end(&mut answered);
    assert!(answered.len() < 2 * 1000, "one answer at most: {} bytes", answered.len());
}
