use super::*;
use crate::random::Random;
use crate::testing::ifile::{compare, key, plain, sorted, stream, vint as encoded, CLASSES};

/// A stream in windows of given sizes, and all bytes that were asked for one copy of a key.
struct Cut {
    rest: Vec<u8>,
    sizes: Vec<usize>,
    grown: usize,
}

impl SegmentWindows for Cut {
    type Error = &'static str;

    fn next(&mut self) -> Result<Option<Vec<u8>>, &'static str> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let size = self.sizes[self.rest.len() % self.sizes.len()].min(self.rest.len());
        Ok(Some(self.rest.drain(..size).collect()))
    }

    fn grow(&mut self, from: usize, to: usize) -> Result<(), &'static str> {
        assert_eq!(from, FREE_KEY.max(self.grown));
        self.grown += to - if self.grown == 0 { 0 } else { from };
        if to > 1 << 20 { Err("no memory") } else { Ok(()) }
    }
}

fn cut(stream: &[u8], sizes: &[usize]) -> Cut {
    // IFile's own checksum follows.
    Cut { rest: [stream, &[1, 2, 3, 4]].concat(), sizes: sizes.to_vec(), grown: 0 }
}

fn read(order: WritableOrder, windows: Cut, raw_bytes: usize) -> Result<(Vec<u8>, Cut), MergeFailure<&'static str>> {
    let mut records = SegmentRecords::new(windows, order, raw_bytes as u64);
    let mut all = Vec::new();
    while records.next()? {
        records.hand_on(&mut |bytes| {
            all.extend_from_slice(bytes);
            Ok(())
        })?;
    }
    Ok((all, records.windows))
}

#[test]
fn every_cut_of_a_stream_gives_its_records() {
    let mut random = Random::new(31);
    for round in 0..300 {
        let order = CLASSES[round % CLASSES.len()];
        let count = random.below(30) as usize;
        let records = sorted(order, &mut random, count, 300);
        let bytes = stream(&records);
        let sizes: Vec<usize> = (0..3).map(|_| 1 + random.below(80) as usize).collect();
        let (got, _) = read(order, cut(&bytes, &sizes), bytes.len()).unwrap();
        assert!(got == plain(&records), "{order:?} in windows of {sizes:?}");
    }
}

#[test]
fn a_value_of_any_size_is_handed_on_in_parts_and_a_large_key_asks_for_memory() {
    let mut random = Random::new(32);
    let long = [encoded(300_000), vec![b'z'; 300_000]].concat();
    let records = vec![
        (vec![1, b'a'], random.bytes(3_000_000)),
        (long.clone(), random.bytes(10)),
        (long.clone(), random.bytes(500_000)),
    ];
    let bytes = stream(&records);
    let (got, windows) = read(WritableOrder::Text, cut(&bytes, &[65_536]), bytes.len()).unwrap();
    assert!(got == plain(&records));
    assert_eq!(windows.grown, long.len());
    let too_long = vec![([encoded(2_000_000), vec![b'z'; 2_000_000]].concat(), vec![])];
    let bytes = stream(&too_long);
    let failure = read(WritableOrder::Text, cut(&bytes, &[65_536]), bytes.len()).err().unwrap();
    assert!(matches!(failure, MergeFailure::Fetch("no memory")), "{failure:?}");
}

#[test]
fn disorder_is_found_wherever_it_is() {
    let mut random = Random::new(33);
    let mut found = 0;
    for round in 0..400 {
        let order = CLASSES[round % 4];
        let mut records = sorted(order, &mut random, 12, 40);
        let at = random.below(11) as usize;
        records.swap(at, at + 1);
        let is_wrong = records.windows(2).any(|pair| compare(order, &pair[0].0, &pair[1].0) == Ordering::Greater);
        let bytes = stream(&records);
        match read(order, cut(&bytes, &[1 + random.below(60) as usize]), bytes.len()) {
            Ok(_) => assert!(!is_wrong),
            Err(MergeFailure::Disorder(number)) => {
                assert!(is_wrong && number.abs_diff(at as u64 + 2) <= 1, "{number} {at}");
                found += 1;
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(found > 100, "{found}");
}

#[test]
fn what_is_no_stream_is_an_error_and_never_more_or_less() {
    let text = |key: &[u8]| [encoded(key.len()), key.to_vec()].concat();
    let right = stream(&[(text(b"a"), vec![1; 9]), (text(b"b"), vec![2; 9])]);
    let fails = |bytes: &[u8], raw: usize| read(WritableOrder::Text, cut(bytes, &[7]), raw).is_err();
    assert!(!fails(&right, right.len()));
    for raw in (0..right.len() + 6).filter(|raw| *raw != right.len()) {
        assert!(fails(&right, raw), "{raw} bytes are promised");
    }
    for short in 0..right.len() - 4 {
        assert!(fails(&right[..short], right.len()), "{short} bytes are there");
    }
    let end = right.len() - 2;
    for wrong in [[0xff, 0xfe], [0xfe, 0xff], [0, 0xff], [0xff, 0], [0x80, 0x80], [0, 0]] {
        assert!(fails(&[&right[..end], &wrong].concat(), right.len()), "{wrong:?} as the end");
    }
    // Lengths that would overflow.
    for first in 0x80..=0xff {
        let bytes = [vec![first; 1], vec![0xff; 8], vec![first], vec![0x7f; 8], vec![0xff, 0xff]].concat();
        assert!(fails(&bytes, bytes.len()));
    }
}

#[test]
fn changed_and_random_bytes_make_nobody_panic() {
    let mut random = Random::new(34);
    for round in 0..20_000 {
        let order = CLASSES[round % CLASSES.len()];
        let records = sorted(order, &mut random, 6, 30);
        let mut bytes = stream(&records);
        if round % 5 == 0 {
            let count = random.below(100) as usize;
            bytes = random.bytes(count);
        }
        for _ in 0..random.below(4) {
            if !bytes.is_empty() {
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.next() as u8;
            }
        }
        let raw = bytes.len();
        if let Ok((got, _)) = read(order, cut(&bytes, &[1 + random.below(40) as usize]), raw) {
            assert!(got == bytes[..raw - 2], "whatever is taken is taken as it is");
        }
    }
    assert!(key(WritableOrder::Null, &mut random).is_empty());
}
