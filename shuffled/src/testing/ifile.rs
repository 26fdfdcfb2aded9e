//! Makes segments of IFile records as maps write them, for tests.

use crate::merge::codec::SegmentCodec;
use crate::merge::order::WritableOrder;
use crate::random::Random;
use std::io::Write;

pub const CLASSES: [WritableOrder; 5] = [WritableOrder::Text, WritableOrder::Bytes, WritableOrder::Int, WritableOrder::Long, WritableOrder::Null];

/// A serialised key and value.
pub type Record = (Vec<u8>, Vec<u8>);

/// Returns a length as Hadoop's variable-length int.
pub fn vint(number: usize) -> Vec<u8> {
    if number < 128 {
        return vec![number as u8];
    }
    let bytes = number.to_be_bytes();
    let rest = &bytes[number.leading_zeros() as usize / 8..];
    [&[(-112 - rest.len() as i32) as u8], rest].concat()
}

/// Returns a serialised key whose content is one of few, so that keys are often equal or begin alike.
pub fn key(order: WritableOrder, random: &mut Random) -> Vec<u8> {
    let mut content = || {
        let count = [0, 1, 3, 7, 8, 9, 20, 200][random.below(8) as usize];
        let mut content = vec![b'a'; count];
        if let Some(last) = content.last_mut() {
            *last = [0, b'a', b'b', 0x80, 0xff][random.below(5) as usize];
        }
        content
    };
    match order {
        WritableOrder::Text => {
            let content = content();
            [vint(content.len()), content].concat()
        }
        WritableOrder::Bytes => {
            let content = content();
            [(content.len() as u32).to_be_bytes().to_vec(), content].concat()
        }
        WritableOrder::Int => (random.below(9) as i32 - 4).wrapping_mul(i32::MAX / 4).to_be_bytes().to_vec(),
        WritableOrder::Long => (random.below(9) as i64 - 4).wrapping_mul(i64::MAX / 4).to_be_bytes().to_vec(),
        WritableOrder::Null => Vec::new(),
    }
}

/// Returns whether one key sorts before another.
pub fn compare(order: WritableOrder, left: &[u8], right: &[u8]) -> std::cmp::Ordering {
    let decided = order.prefix(left).cmp(&order.prefix(right));
    decided.then_with(|| order.content(left).cmp(order.content(right)))
}

/// Returns records of one segment in order.
pub fn sorted(order: WritableOrder, random: &mut Random, count: usize, longest: u64) -> Vec<Record> {
    let mut records: Vec<Record> = (0..count)
        .map(|_| {
            let length = random.below(longest) as usize;
            (key(order, random), random.bytes(length))
        })
        .collect();
    records.sort_by(|left, right| compare(order, &left.0, &right.0));
    records
}

/// Returns records as a stream has them, without the end marker.
pub fn plain(records: &[Record]) -> Vec<u8> {
    let one = |(key, value): &Record| [vint(key.len()), vint(value.len()), key.clone(), value.clone()].concat();
    records.iter().flat_map(one).collect()
}

/// Returns a whole stream of records.
pub fn stream(records: &[Record]) -> Vec<u8> {
    [plain(records), vec![0xff, 0xff]].concat()
}

/// Returns what a merge of segments must be: a stable sort of all records in the order of the segments.
pub fn merged(order: WritableOrder, segments: &[Vec<Record>]) -> Vec<Record> {
    let mut all: Vec<Record> = segments.concat();
    all.sort_by(|left, right| compare(order, &left.0, &right.0));
    all
}

/// Returns bytes compressed as Hadoop's codec does it.
pub fn encoded(codec: SegmentCodec, bytes: &[u8]) -> Vec<u8> {
    let level = flate2::Compression::default();
    match codec {
        SegmentCodec::Plain => bytes.to_vec(),
        SegmentCodec::Zlib => {
            let mut out = flate2::write::ZlibEncoder::new(Vec::new(), level);
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        }
        SegmentCodec::Gzip => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), level);
            out.write_all(bytes).unwrap();
            out.finish().unwrap()
        }
        SegmentCodec::Snappy => blocks(bytes, |chunk| snap::raw::Encoder::new().compress_vec(chunk).unwrap()),
        SegmentCodec::Lz4 => blocks(bytes, lz4_flex::block::compress),
    }
}

/// Returns Hadoop's block format: blocks of one chunk, and one block of several, as a large write makes it.
pub fn blocks(bytes: &[u8], encode: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut all = Vec::new();
    let mut block = |content: &[u8], largest: usize| {
        all.extend((content.len() as u32).to_be_bytes());
        for chunk in content.chunks(largest).map(&encode) {
            all.extend((chunk.len() as u32).to_be_bytes());
            all.extend(chunk);
        }
    };
    let (small, large) = bytes.split_at(bytes.len() / 2);
    small.chunks(20_000).for_each(|content| block(content, 20_000));
    block(large, 200_000);
    all
}
