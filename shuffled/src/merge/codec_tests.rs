use super::*;
use crate::merge::order::WritableOrder;
use crate::random::Random;
use crate::testing::ifile::{encoded, sorted, stream};

const CODECS: [SegmentCodec; 2] = [SegmentCodec::Zlib, SegmentCodec::Gzip];

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

    fn grow(&mut self, _: usize) -> Result<(), Refused> {
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
                assert!(window.len() as u64 <= WINDOW && !window.is_empty());
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
    for codec in CODECS {
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
    for codec in CODECS {
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
    assert!(why(SegmentCodec::Gzip, &encoded(SegmentCodec::Zlib, &raw), raw.len()).contains("Hadoop's gzip codec"));
    assert!(why(SegmentCodec::Zlib, &encoded(SegmentCodec::Gzip, &raw), raw.len()).contains("as the job says"));
}

/// Besides the CRC32C of each 64 KiB, which is compared before: the formats' own checksums find each bit that matters.
#[test]
fn every_bit_that_flips_is_found() {
    let mut random = Random::new(83);
    let raw = stream(&sorted(WritableOrder::Text, &mut random, 12, 40));
    for codec in CODECS {
        let right = encoded(codec, &raw);
        // Gzip's header tells time, level and system, which nobody reads.
        let unread = if codec == SegmentCodec::Gzip { 4..GZIP_HEADER } else { 0..0 };
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
        let codec = CODECS[round % 2];
        let count = random.below(200) as usize;
        let mut bytes = random.bytes(count);
        if codec == SegmentCodec::Gzip && round % 3 > 0 {
            bytes.splice(..0, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
        }
        let raw = 3 + random.below(5000) as usize;
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
    assert_eq!(SegmentCodec::of(3), None);
}
