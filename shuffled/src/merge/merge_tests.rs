//! Tests of merges over real sockets: what a reducer gets, and what a reducer that does wrong leaves behind.

use crate::jobs::{Job, Order};
use crate::merge::order::WritableOrder;
use crate::merge::codec::SegmentCodec;
use crate::merge::wire::{MergeRequest, SegmentWords, MERGE_MAGIC};
use crate::names::JobKey;
use crate::pace::Pace;
use crate::random::Random;
use crate::shares::Payer;
use crate::testing::ifile::{merged, plain, sorted, stream, vint, Record, CLASSES};
use crate::testing::merger::{merge, publish, publish_as, request, Merger};
use crate::testing::node::{until, Node, SECRET};
use crate::testing::site::{job, own_uid, JOB};
use crate::wire::{RefusalReason, MAGIC};
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(300);

fn int(number: i32) -> Record {
    (number.to_be_bytes().to_vec(), vec![number as u8; 100])
}

fn is_free(node: &Node) {
    until(|| node.budget.used() == 0 && node.metrics.merges.get() == 0);
}

/// Three segments of so many records each, whose keys take turns.
fn three(count: i32) -> Vec<Vec<Record>> {
    (0..3).map(|segment| (0..count).map(|number| int(3 * number + segment)).collect()).collect()
}

#[test]
fn segments_of_several_nodes_are_one_sorted_stream() {
    let mut random = Random::new(61);
    for order in CLASSES {
        for node in [Node::start(8), Node::whole(TcpListener::bind("0.0.0.0:0").unwrap(), Pace::default())] {
            let mut counts = [0, 1, 4000, 300, 7, 900].into_iter();
            let records: Vec<Vec<Record>> =
                counts.by_ref().map(|count| sorted(order, &mut random, count, 200)).collect();
            let words = publish(&node, &records);
            let (got, end) = merge(&node, order, &words).unwrap();
            let right = merged(order, &records);
            assert!(got == stream(&right), "{order:?}");
            assert_eq!(end.unwrap(), (right.len() as u64, plain(&right).len() as u64));
            is_free(&node);
            assert_eq!(node.metrics.merged_bytes.get(), got.len() as u64);
        }
    }
}

#[test]
fn records_larger_than_windows_and_blocks_arrive_whole() {
    let node = Node::start(8);
    let mut random = Random::new(62);
    let text = |letter: u8, count: usize| [vint(count), vec![letter; count]].concat();
    let records = vec![
        vec![(text(b'a', 3), random.bytes(5 << 20)), (text(b'b', 100_000), random.bytes(300_000))],
        vec![(text(b'a', 3), random.bytes(10)), (text(b'b', 100_000), random.bytes(200_000))],
    ];
    let (got, end) = merge(&node, WritableOrder::Text, &publish(&node, &records)).unwrap();
    assert!(got == stream(&merged(WritableOrder::Text, &records)) && end.unwrap().0 == 4);
    // A key that is too large for the memory of merges ends the merge with the fix.
    let huge = vec![vec![(text(b'a', 1 << 20), vec![1])]];
    let (_, end) = merge(&node, WritableOrder::Text, &publish(&node, &huge)).unwrap();
    let refused = end.unwrap_err();
    assert!(refused.why == RefusalReason::TooMuch && refused.text.contains("delivery=segments"), "{refused:?}");
    is_free(&node);
}

/// Decoded windows are small, so that many keys cross from one into the next.
#[test]
fn long_keys_take_memory_for_the_longest_once() {
    let node = Node::start(8);
    let key = |number: usize| [vint(5000), format!("{number:05000}").into_bytes()].concat();
    let records: Vec<Vec<Record>> =
        (0..2).map(|segment| (0..1500).map(|number| (key(2 * number + segment), vec![7; 100])).collect()).collect();
    let words = publish_as(&node, SegmentCodec::Zlib, &records);
    let mut merger = Merger::connect(&node);
    let wanted = MergeRequest { codec: SegmentCodec::Zlib, ..request(WritableOrder::Text, &words) };
    merger.ask(&wanted, &words).unwrap();
    let before = node.budget.used();
    let (got, end) = merger.read().unwrap();
    assert!(got == stream(&merged(WritableOrder::Text, &records)) && end.unwrap().0 == 3000);
    assert!(node.budget.most() <= before + 2 * 2 * 5000, "{} bytes, {before} before", node.budget.most());
    is_free(&node);
}

#[test]
fn a_reducer_hears_of_the_merge_behind_what_it_has() {
    let node = Node::at(8, Pace { telling: Duration::ZERO, ..Pace::default() });
    let records = three(20_000);
    let words = publish(&node, &records);
    let whole = stream(&merged(WritableOrder::Int, &records));
    let mut merger = Merger::connect(&node);
    merger.checksum = crc32c::crc32c(&whole);
    let wanted = MergeRequest { skip: whole.len() as u64, ..request(WritableOrder::Int, &words) };
    merger.ask(&wanted, &words).unwrap();
    let (got, end) = merger.read().unwrap();
    assert!(got.is_empty() && end.unwrap().0 == 60_000);
    assert!(merger.working > 20, "{}", merger.working);
}

/// Others may have taken its memory meanwhile, and give it back.
#[test]
fn a_reducer_that_asks_for_the_rest_waits_for_memory() {
    let node = Node::start(8);
    let words = publish(&node, &three(5000));
    let whole = stream(&merged(WritableOrder::Int, &three(5000)));
    let mut others = Vec::new();
    let first = loop {
        let mut merger = Merger::connect(&node);
        match merger.ask(&request(WritableOrder::Int, &words), &words) {
            Ok(()) => others.push(merger),
            Err(refused) => break refused,
        }
    };
    assert_eq!(first.why, RefusalReason::Busy, "who has nothing yet does not wait");
    std::thread::scope(|scope| {
        let rest = scope.spawn(|| {
            let mut merger = Merger::connect(&node);
            merger.checksum = crc32c::crc32c(&whole[..1000]);
            let wanted = MergeRequest { skip: 1000, patience: 60_000, ..request(WritableOrder::Int, &words) };
            merger.ask(&wanted, &words).unwrap();
            merger.read().unwrap()
        });
        std::thread::sleep(SHORT);
        others.iter_mut().for_each(|each| assert!(each.read().unwrap().0 == whole));
        drop(others);
        assert!(rest.join().unwrap().0 == whole[1000..]);
    });
    is_free(&node);
}

#[test]
fn a_merge_of_nothing_is_an_end_marker() {
    let (got, end) = merge(&Node::start(2), WritableOrder::Int, &[]).unwrap();
    assert_eq!((got, end), (vec![0xff, 0xff], Ok((0, 0))));
}

#[test]
fn a_reducer_that_asks_again_gets_the_rest() {
    let node = Node::start(8);
    let records = three(3000);
    let words = publish(&node, &records);
    let whole = stream(&merged(WritableOrder::Int, &records));
    for skip in [0, 1, 65_535, 131_072, 131_073, whole.len() - 1, whole.len()] {
        let mut merger = Merger::connect(&node);
        merger.checksum = crc32c::crc32c(&whole[..skip]);
        let mut wanted = request(WritableOrder::Int, &words);
        wanted.skip = skip as u64;
        merger.ask(&wanted, &words).unwrap();
        let (got, end) = merger.read().unwrap();
        assert!(got == whole[skip..] && end.unwrap().0 == 9000, "behind {skip}");
    }
}

#[test]
fn damage_disorder_and_loss_amid_a_merge_name_the_map() {
    let node = Node::start(8);
    let words = publish(&node, &three(5000));
    let failed = |words: &[SegmentWords]| {
        merge(&node, WritableOrder::Int, words).unwrap().1.unwrap_err()
    };
    let file = OpenOptions::new().write(true).open(node.site.output(1, 0).join("file.out")).unwrap();
    file.write_all_at(&[0x55], 300_000).unwrap();
    let refused = failed(&words);
    assert_eq!(refused.why, RefusalReason::Damaged);
    assert!(refused.text.contains("m_000001_0: wrong checksum at offset 262144"), "{}", refused.text);
    file.set_len(200_000).unwrap();
    assert!(failed(&words).text.contains("m_000001_0"));
    let mut away = words.clone();
    away[2].host = "no-such-host.invalid".to_owned();
    let refused = failed(&[away[0].clone(), away[2].clone()]);
    assert_eq!(refused.why, RefusalReason::Unreachable);
    assert!(refused.text.contains("m_000002_0"), "{}", refused.text);
    away[2].map = 9;
    away[2].host.clone_from(&words[2].host);
    assert_eq!(failed(&away[2..]).why, RefusalReason::Gone);
    let wrong = publish(&node, &[vec![int(1), int(2), int(-3)]]);
    let refused = failed(&wrong);
    assert_eq!(refused.why, RefusalReason::Disorder);
    assert!(refused.text.starts_with("record 3 of attempt_") && refused.text.contains("m_000000_0"), "{refused:?}");
    is_free(&node);
}

#[test]
fn what_does_not_fit_is_refused_before_the_first_record() {
    let node = Node::start(8);
    let words = publish(&node, &three(3000));
    let refused = |words: &[SegmentWords]| merge(&node, WritableOrder::Int, words).err().unwrap();
    // Merges may hold 4 MiB here.
    let many: Vec<SegmentWords> = (0..40).map(|map| SegmentWords { map, ..words[0].clone() }).collect();
    let why = refused(&many);
    assert!(why.why == RefusalReason::TooMuch && why.text.starts_with("the merge needs"), "{why:?}");
    let twice = refused(&[words[0].clone(), words[1].clone(), words[0].clone()]);
    assert!(twice.why == RefusalReason::TooMuch && twice.text.ends_with("of map 0: the map is named twice"), "{twice:?}");
    let whole = stream(&merged(WritableOrder::Int, &three(3000))).len() as u64;
    let wanted = MergeRequest { skip: whole + 1, ..request(WritableOrder::Int, &words) };
    let beyond = Merger::connect(&node).ask(&wanted, &words).unwrap_err();
    assert!(beyond.why == RefusalReason::TooMuch && beyond.text.starts_with("more bytes to skip"), "{beyond:?}");
    let mut odd = words.clone();
    odd[1].raw_bytes -= 1;
    assert_eq!(refused(&odd).why, RefusalReason::TooMuch);
    let mut merger = Merger::connect(&node);
    let wanted = MergeRequest { segments: 1 << 20, ..request(WritableOrder::Int, &words) };
    assert_eq!(merger.ask(&wanted, &words).unwrap_err().why, RefusalReason::TooMuch);
    let wanted = MergeRequest { checksums: u32::MAX, ..request(WritableOrder::Int, &words) };
    assert_eq!(Merger::connect(&node).ask(&wanted, &words).unwrap_err().why, RefusalReason::TooMuch);
    let wanted = MergeRequest { sealed: true, ..request(WritableOrder::Int, &words) };
    assert_eq!(Merger::connect(&node).ask(&wanted, &words).unwrap_err().why, RefusalReason::TooMuch);
    is_free(&node);
}

#[test]
fn one_job_leaves_memory_for_others_merges_and_for_requests() {
    let node = Node::start(8);
    let words = publish(&node, &three(5000));
    let mut running = Vec::new();
    loop {
        let mut merger = Merger::connect(&node);
        match merger.ask(&request(WritableOrder::Int, &words), &words) {
            Ok(()) => running.push(merger),
            Err(refused) => {
                assert_eq!(refused.why, RefusalReason::Busy);
                break;
            }
        }
    }
    assert!(!running.is_empty() && node.budget.used() <= 2 << 20, "{} of 8 MiB", node.budget.used());
    // Such requests end soon, and wait for no merge.
    let mut reducer = node.reducer(SECRET).unwrap();
    assert!(reducer.read("127.0.0.1", 0, 0, (0, 300_000)).is_ok());
    let other = Payer { job: JobKey { cluster: 1, number: 1 }, uid: own_uid() + 1 };
    assert!(node.budget.reserve(other, 2 << 20, Duration::ZERO).is_some());
    // Those who were let in get all of it, one after the other.
    let whole = stream(&merged(WritableOrder::Int, &three(5000)));
    assert!(running.iter_mut().all(|each| each.read().unwrap().0 == whole));
    is_free(&node);
    assert!(merge(&node, WritableOrder::Int, &words).is_ok());
}

#[test]
fn a_reducer_that_goes_away_or_takes_nothing_leaves_nothing_behind() {
    let node = Node::at(8, Pace { unread: SHORT, ..Pace::default() });
    let words = publish(&node, &three(20_000));
    for round in 0..12 {
        let mut merger = Merger::connect(&node);
        merger.ask(&request(WritableOrder::Int, &words), &words).unwrap();
        if round % 3 == 0 {
            let _ = merger.socket.read(&mut [0; 1000]);
        }
        drop(merger);
        is_free(&node);
    }
    let mut stalled = Merger::connect(&node);
    stalled.ask(&request(WritableOrder::Int, &words), &words).unwrap();
    is_free(&node);
    // What was sent before is right, and its end cannot be taken for the stream's.
    assert_eq!(stalled.read().err().unwrap().kind(), std::io::ErrorKind::UnexpectedEof);
}

#[test]
fn nonsense_in_place_of_a_merge_ends_the_connection() {
    let node = Node::start(8);
    let words = publish(&node, &three(100));
    let mut random = Random::new(63);
    for round in 0..60 {
        let mut merger = Merger::connect(&node);
        let mut bytes = request(WritableOrder::Int, &words).encode(7);
        words.iter().for_each(|each| bytes.extend(each.encode(7)));
        if round % 2 == 0 {
            let at = random.below(60) as usize;
            bytes[at] ^= 1 << random.below(8);
        } else {
            let count = random.below(300) as usize;
            bytes = random.bytes(count);
        }
        let _ = merger.socket.write_all(&bytes);
        let _ = merger.socket.shutdown(std::net::Shutdown::Write);
        let _ = merger.socket.read_to_end(&mut Vec::new());
    }
    is_free(&node);
    assert!(merge(&node, WritableOrder::Int, &words).is_ok());
}

#[test]
fn a_job_that_ends_or_is_anothers_is_not_merged_for() {
    let node = Node::start(8);
    let words = publish(&node, &three(50_000));
    let other = JobKey { number: 77, ..JOB };
    node.jobs.obey(Order::Add(Job { key: other, ..job(b"another", own_uid()) })).unwrap();
    let mut wanted = request(WritableOrder::Int, &words);
    wanted.job = other;
    let mut merger = Merger::connect(&node);
    merger.socket.write_all(&wanted.encode(7)).unwrap();
    assert_eq!(merger.socket.read(&mut [0; 10]).unwrap(), 0, "the connection ends");
    let mut merger = Merger::connect(&node);
    merger.ask(&request(WritableOrder::Int, &words), &words).unwrap();
    node.jobs.obey(Order::Remove(JOB)).unwrap();
    let (_, end) = merger.read().unwrap();
    assert_eq!(end.unwrap_err().why, RefusalReason::NotAllowed);
    is_free(&node);
}

#[test]
fn each_version_of_the_greeting_gets_its_own_and_an_unknown_one_the_daemons() {
    let node = Node::start(2);
    for (greeting, answered) in [(MAGIC, MAGIC), (MERGE_MAGIC, MERGE_MAGIC), (b"VASJBM99", MAGIC)] {
        let mut socket = UnixStream::connect(node.site.root.join("socket")).unwrap();
        socket.write_all(&[greeting.as_slice(), &[0; 32]].concat()).unwrap();
        let mut bytes = [0; 8];
        socket.read_exact(&mut bytes).unwrap();
        assert_eq!(bytes, *answered);
    }
}
