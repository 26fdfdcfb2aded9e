use super::*;
use crate::merge::inflate::{GZIP_HEADER, WINDOW};
use crate::merge::order::WritableOrder;
use crate::random::Random;
use crate::testing::ifile::{encoded, sorted, stream};
use SegmentCodec::{Gzip, Lz4, Snappy, Zlib};

const INFLATED: [SegmentCodec; 2] = [Zlib, Gzip];
const BLOCKS: [SegmentCodec; 2] = [Snappy, Lz4];
const CODECS: [SegmentCodec; 4] = [Zlib, Gzip, Snappy, Lz4];

/// Stored bytes in windows of a size, and how many of them were taken.
struct Cut {
    rest: Vec<u8>,
    size: usize,
    taken: usize,
}

impl SegmentWindows for Cut {
    type Error = Refused;

    fn next(&mut self) -> Result<Option<Vec<u8>>, Refused> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let size = self.size.min(self.rest.len());
        self.taken += size;
        Ok(Some(self.rest.drain(..size).collect()))
    }

    fn grow(&mut self, _: usize, _: usize) -> Result<(), Refused> {
        Ok(())
    }
}

fn words(stored_bytes: u64, raw_bytes: u64) -> SegmentWords {
    SegmentWords { map: 0, attempt: 0, host: "n1".to_owned(), raw_bytes, stored_bytes, checksums: Vec::new() }
}

/// Decodes bytes that IFile's checksum follows, in windows of this size; returns what came, and the end.
fn decode(codec: SegmentCodec, bytes: &[u8], raw: usize, size: usize) -> (Vec<u8>, Result<(), Refused>) {
    let rest = [bytes, &[1, 2, 3, 4]].concat();
    let words = words(rest.len() as u64, raw as u64);
    let mut windows = DecodedWindows::new(Cut { rest, size, taken: 0 }, codec, &words);
    let mut all = Vec::new();
    loop {
        match windows.next() {
            Ok(Some(window)) => {
                let most = if INFLATED.contains(&codec) { WINDOW } else { 256 << 10 };
                assert!(window.len() as u64 <= most && !window.is_empty());
                all.extend(window);
            }
            Ok(None) => return (all, Ok(())),
            Err(refused) => return (all, Err(refused)),
        }
    }
}

fn why(codec: SegmentCodec, bytes: &[u8], raw: usize) -> String {
    let (got, end) = decode(codec, bytes, raw, 1000);
    assert!(got.len() < raw, "the last bytes come when all is right");
    let refused = end.unwrap_err();
    assert_eq!(refused.why, RefusalReason::Damaged);
    refused.text
}

#[test]
fn what_was_compressed_comes_back_by_windows_of_any_size() {
    let mut random = Random::new(81);
    for codec in CODECS {
        let mut raws: Vec<Vec<u8>> = [3, 65_536, 131_072].iter().map(|count| random.bytes(*count)).collect();
        raws.extend([vec![0; 300_000], stream(&sorted(WritableOrder::Text, &mut random, 1000, 90))]);
        for raw in raws {
            let bytes = encoded(codec, &raw);
            for size in [7, 4096, 65_536, 1 << 20] {
                let (got, end) = decode(codec, &bytes, raw.len(), size);
                assert!(end == Ok(()) && got == raw, "{codec:?}, {} bytes by {size}", raw.len());
            }
        }
    }
}

#[test]
fn a_bomb_is_stopped_at_the_first_byte_beyond_its_promise() {
    for codec in INFLATED {
        let bytes = encoded(codec, &vec![0; 8 << 20]);
        let stored = (bytes.len() + 4) as u64;
        for raw in [3, 65_535, 65_536, 65_537] {
            let cut = Cut { rest: [&bytes[..], &[0; 4]].concat(), size: 1 << 10, taken: 0 };
            let mut windows = DecodedWindows::new(cut, codec, &words(stored, raw));
            let refused = loop {
                match windows.next() {
                    Ok(window) => assert!(window.is_some()),
                    Err(refused) => break refused,
                }
            };
            assert!(refused.text.starts_with(&format!("more than {raw} bytes")), "{}", refused.text);
            assert!(windows.source().taken <= 2 << 10, "{} bytes of {stored} were read", windows.source().taken);
        }
    }
}

#[test]
fn bytes_that_end_early_or_late_are_refused() {
    let mut random = Random::new(82);
    let raw = stream(&sorted(WritableOrder::Text, &mut random, 50, 40));
    for codec in INFLATED {
        let bytes = encoded(codec, &raw);
        for short in 0..bytes.len() {
            let text = why(codec, &bytes[..short], raw.len());
            assert!(!text.is_empty(), "{short} bytes of {}", bytes.len());
        }
        assert!(why(codec, &[&bytes[..], &[0]].concat(), raw.len()).contains("end elsewhere"));
        assert!(why(codec, &[&bytes[..], &bytes[..]].concat(), raw.len()).contains("end elsewhere"));
        assert!(why(codec, &bytes, raw.len() - 1).starts_with("more than"));
        assert!(why(codec, &bytes, raw.len() + 1).contains("come of it"));
    }
    assert!(why(Gzip, &encoded(Zlib, &raw), raw.len()).contains("Hadoop's gzip codec"));
    assert!(why(Zlib, &encoded(Gzip, &raw), raw.len()).contains("as the job says"));
}

/// Besides the CRC32C of each 64 KiB, which is compared before: the formats' own checksums find each bit that matters.
#[test]
fn every_bit_that_flips_is_found() {
    let mut random = Random::new(83);
    let raw = stream(&sorted(WritableOrder::Text, &mut random, 12, 40));
    for codec in INFLATED {
        let right = encoded(codec, &raw);
        // Gzip's header tells time, level and system, which nobody reads.
        let unread = if codec == Gzip { 4..GZIP_HEADER } else { 0..0 };
        let mut without_meaning = 0;
        for bit in (0..8 * right.len()).filter(|bit| !unread.contains(&(bit / 8))) {
            let mut wrong = right.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            let (got, end) = decode(codec, &wrong, raw.len(), 100);
            assert!(end.is_err() || got == raw, "{codec:?}: bit {bit}");
            without_meaning += usize::from(end.is_ok());
        }
        // Bits that fill the last byte, and zlib's word of how large a window sufficed.
        assert!(without_meaning <= 7 + 3, "{codec:?}: {without_meaning} bits");
    }
}

#[test]
fn random_bytes_make_nobody_panic() {
    let mut random = Random::new(84);
    for round in 0..5_000 {
        let codec = CODECS[round % 4];
        let count = random.below(200) as usize;
        let mut bytes = random.bytes(count);
        let raw = 3 + random.below(5000) as usize;
        if codec == Gzip && round % 3 > 0 {
            bytes.splice(..0, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
        } else if BLOCKS.contains(&codec) && round % 3 > 0 {
            let lengths = [raw as u32, bytes.len() as u32].map(u32::to_be_bytes).concat();
            bytes.splice(..0, lengths);
        }
        let (got, end) = decode(codec, &bytes, raw, 1 + random.below(100) as usize);
        assert!(got.len() <= raw && (end.is_err() || got.len() == raw));
    }
}

#[test]
fn sizes_that_no_segment_has_are_refused() {
    assert!(SegmentCodec::Plain.fits(&words(14, 10)) && !SegmentCodec::Plain.fits(&words(13, 10)));
    for codec in CODECS {
        assert!(codec.fits(&words(14, 1000)) && !codec.fits(&words(14, 2)) && !codec.fits(&words(3, 1000)));
    }
    assert_eq!(SegmentCodec::of(5), None);
}

/// Blocks of these decoded lengths and chunks.
fn of_blocks(blocks: &[(u32, &[Vec<u8>])]) -> Vec<u8> {
    let mut all = Vec::new();
    for (raw, chunks) in blocks {
        all.extend(raw.to_be_bytes());
        for chunk in *chunks {
            all.extend((chunk.len() as u32).to_be_bytes());
            all.extend(chunk);
        }
    }
    all
}

fn chunk(codec: SegmentCodec, bytes: &[u8]) -> Vec<u8> {
    if codec == Snappy { snap::raw::Encoder::new().compress_vec(bytes).unwrap() } else { lz4_flex::block::compress(bytes) }
}

#[test]
fn blocks_that_end_early_or_late_or_lie_are_refused() {
    let mut random = Random::new(85);
    let raw = stream(&sorted(WritableOrder::Text, &mut random, 50, 40));
    for codec in BLOCKS {
        let bytes = encoded(codec, &raw);
        for short in 0..bytes.len() {
            assert!(!why(codec, &bytes[..short], raw.len()).is_empty(), "{short} bytes of {}", bytes.len());
        }
        // The block of no bytes at the end is Hadoop's, and anything else is nobody's.
        assert_eq!(decode(codec, &[&bytes[..], &[0; 4]].concat(), raw.len(), 7), (raw.clone(), Ok(())));
        assert!(why(codec, &[&bytes[..], &[0; 3]].concat(), raw.len()).contains("end elsewhere"));
        assert!(why(codec, &[&bytes[..], &[0; 5]].concat(), raw.len()).contains("end elsewhere"));
        assert!(why(codec, &[&bytes[..], &[0, 0, 0, 1]].concat(), raw.len()).contains("more bytes come"));
        assert!(why(codec, &bytes, raw.len() - 1).starts_with("more than"));
        assert!(!why(codec, &bytes, raw.len() + 1).is_empty());
        let one = |bytes: &[u8]| vec![chunk(codec, bytes)];
        let lies: [(&str, Vec<u8>); 7] = [
            ("a block of more", of_blocks(&[(11, &one(&[7; 11]))])),
            ("a block of nothing", of_blocks(&[(0, &[]), (10, &one(&[7; 10]))])),
            ("a chunk of more than its block", of_blocks(&[(5, &one(&[7; 6])), (5, &one(&[7; 4]))])),
            ("a chunk of nothing stored", of_blocks(&[(10, &[Vec::new(), chunk(codec, &[7; 10])])])),
            ("a chunk that decodes to nothing", of_blocks(&[(10, &[chunk(codec, &[]), chunk(codec, &[7; 10])])])),
            ("a chunk beyond the segment", [&10u32.to_be_bytes()[..], &[0, 3, 0, 0, 1, 2, 3]].concat()),
            ("a chunk beyond the largest", [&10u32.to_be_bytes()[..], &[0x7f, 0, 0, 0, 1, 2, 3]].concat()),
        ];
        for (lie, bytes) in lies {
            assert!(!why(codec, &bytes, 10).is_empty(), "{codec:?}: {lie}");
        }
        // A chunk that promises more than the largest, in few bytes.
        let bomb = chunk(codec, &vec![0; 300_000]);
        assert!(why(codec, &of_blocks(&[(300_000, &[bomb])]), 300_000).contains("as the job says"));
    }
    assert!(!why(Snappy, &encoded(Lz4, &raw), raw.len()).is_empty());
    assert!(!why(Lz4, &encoded(Zlib, &raw), raw.len()).is_empty());
}
