//! Reads Hadoop's `file.out.index`: three numbers for each partition, and a CRC32 of them. Pure.

/// Bytes of one partition's entry.
const ENTRY: usize = 24;
const CHECKSUM: usize = 8;
/// Most partitions of a job that is served.
const MOST_PARTITIONS: usize = 1_000_000;
/// Most bytes of an index that is read.
pub const LARGEST: u64 = (MOST_PARTITIONS * ENTRY + CHECKSUM) as u64;

/// The place and sizes of one partition's segment, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub start: u64,
    pub raw_bytes: u64,
    pub stored_bytes: u64,
}

/// The places of all segments of one map's output, by partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index(Vec<Part>);

impl Index {
    /// Reads the bytes of a `file.out.index` for a `file.out` of `file_bytes` bytes. The error says what is wrong:
    /// the length, the checksum, or a segment beyond the end of the file.
    pub fn parse(bytes: &[u8], file_bytes: u64) -> Result<Index, &'static str> {
        if bytes.len() as u64 > LARGEST || bytes.len() <= CHECKSUM || bytes.len() % ENTRY != CHECKSUM {
            return Err("its index has an impossible length");
        }
        let (entries, sum) = bytes.split_at(bytes.len() - CHECKSUM);
        if number(sum) != u64::from(crc32fast::hash(entries)) {
            return Err("its index has a wrong checksum");
        }
        entries.chunks_exact(ENTRY).map(|entry| part(entry, file_bytes)).collect::<Result<_, _>>().map(Index)
    }

    pub fn part(&self, partition: u32) -> Option<Part> {
        self.0.get(partition as usize).copied()
    }
}

fn part(entry: &[u8], file_bytes: u64) -> Result<Part, &'static str> {
    let part =
        Part { start: number(&entry[..8]), raw_bytes: number(&entry[8..16]), stored_bytes: number(&entry[16..]) };
    match part.start.checked_add(part.stored_bytes) {
        Some(end) if end <= file_bytes && part.raw_bytes <= i64::MAX as u64 => Ok(part),
        _ => Err("its index names bytes that the file does not have"),
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Returns the bytes of an index file as Hadoop writes it.
#[cfg(test)]
pub fn encode(parts: &[Part]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        for number in [part.start, part.raw_bytes, part.stored_bytes] {
            bytes.extend(number.to_be_bytes());
        }
    }
    let sum = u64::from(crc32fast::hash(&bytes));
    bytes.extend(sum.to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn an_index_is_read_back() {
        let mut random = Random::new(6);
        for _ in 0..500 {
            let mut start = 0;
            let parts: Vec<Part> = (0..=random.below(50))
                .map(|_| {
                    let part = Part { start, raw_bytes: random.below(1 << 40), stored_bytes: random.below(1 << 30) };
                    start += part.stored_bytes;
                    part
                })
                .collect();
            let index = Index::parse(&encode(&parts), start).unwrap();
            assert!(parts.iter().enumerate().all(|(i, part)| index.part(i as u32) == Some(*part)));
            assert_eq!(index.part(parts.len() as u32), None);
        }
    }

    #[test]
    fn a_changed_byte_is_seen() {
        let parts = [Part { start: 0, raw_bytes: 5, stored_bytes: 9 }, Part { start: 9, raw_bytes: 2, stored_bytes: 6 }];
        let bytes = encode(&parts);
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            assert!(Index::parse(&changed, 15).is_err(), "byte {at}");
        }
        for short in 0..bytes.len() {
            assert!(Index::parse(&bytes[..short], 15).is_err(), "{short} bytes");
        }
    }

    #[test]
    fn no_part_is_beyond_the_file() {
        for part in [Part { start: 10, raw_bytes: 2, stored_bytes: 6 },
            Part { start: u64::MAX, raw_bytes: 2, stored_bytes: 6 }, Part { start: 0, raw_bytes: u64::MAX, stored_bytes: 1 }] {
            assert!(Index::parse(&encode(&[part]), 15).is_err());
        }
    }
}
