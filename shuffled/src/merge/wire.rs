//! Encodes and decodes the messages by which a reducer asks its own daemon for a merge (docs/adr/0021), and bounds the
//! length of each. Pure. Proofs, refusals and signs of progress are those of `crate::wire`.

use crate::frame::{Cursor, Malformed, MessageHeader, HEADER, MOST_CHECKSUMS};
use crate::merge::codec::SegmentCodec;
use crate::merge::order::WritableOrder;
use crate::names::JobKey;

#[cfg(test)]
use crate::frame::{put_checksums, put_host, put_job};

/// The first bytes that both ends of a connection send which is for one merge; a nonce follows.
pub const MERGE_MAGIC: &[u8; 8] = b"VASJBM03";
/// Most segments of one merge: a job has no more maps.
pub const MOST_SEGMENTS: u32 = 1 << 20;
/// Most bytes of the stream in one block.
pub const LARGEST_BLOCK: usize = 128 << 10;
/// Bytes of a block's message before the stream's: header, length, checksum.
pub const BLOCK_HEAD: usize = HEADER + 8;
/// Bytes of a SEGMENT message without its checksums, at most.
const SEGMENT_WORDS: u32 = 4 + 4 + 8 + 8 + 1 + 255 + 4;
const MERGE_WORDS: u32 = 12 + 4 + 1 + 1 + 1 + 8 + 4 + 4 + 4;
/// Longest patience that a job may have, in milliseconds: an hour.
const MOST_PATIENCE: u32 = 3_600_000;

const MERGE: u8 = 9;
const SEGMENT: u8 = 10;
const READY: u8 = 11;
const MERGING: u8 = 12;
const BLOCK: u8 = 13;
const MERGED: u8 = 14;

/// The request for a merge of one partition; its segments follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeRequest {
    pub job: JobKey,
    pub partition: u32,
    pub order: WritableOrder,
    pub codec: SegmentCodec,
    /// True where the job demands that its bytes leave a node by TLS only.
    pub sealed: bool,
    /// Bytes of the stream that the reducer has already.
    pub skip: u64,
    /// How long a node that does not answer is asked again, in milliseconds.
    pub patience: u32,
    pub segments: u32,
    /// The number of checksums of all segments.
    pub checksums: u32,
}

/// A segment of a merge, as a look at it found it: its sizes in bytes, and the CRC32C of each 64 KiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentWords {
    pub map: u32,
    pub attempt: u32,
    pub host: String,
    pub raw_bytes: u64,
    pub stored_bytes: u64,
    pub checksums: Vec<u32>,
}

impl MergeRequest {
    #[cfg(test)]
    pub fn encode(&self, id: u64) -> Vec<u8> {
        let mut body = Vec::new();
        put_job(&mut body, self.job);
        body.extend(self.partition.to_be_bytes());
        body.extend([self.order as u8, self.codec as u8, self.sealed as u8]);
        body.extend(self.skip.to_be_bytes());
        [self.patience, self.segments, self.checksums].iter().for_each(|number| body.extend(number.to_be_bytes()));
        framed(MERGE, id, &body)
    }

    /// Reads the body of a MERGE message. Returns an error unless all of it is one.
    pub fn decode(body: &[u8]) -> Result<MergeRequest, Malformed> {
        let mut rest = Cursor(body);
        let (job, partition) = (rest.job()?, rest.u32()?);
        let order = WritableOrder::of(rest.u8()?).ok_or(Malformed("an unknown order of keys"))?;
        let codec = SegmentCodec::of(rest.u8()?).ok_or(Malformed("an unknown codec"))?;
        let sealed = match rest.u8()? {
            flag @ 0..=1 => flag == 1,
            _ => return Err(Malformed("unknown flags of a merge")),
        };
        let (skip, patience) = (rest.u64()?, rest.at_most(MOST_PATIENCE)?);
        let (segments, checksums) = (rest.at_most(MOST_SEGMENTS)?, rest.u32()?);
        rest.end()?;
        Ok(MergeRequest { job, partition, order, codec, sealed, skip, patience, segments, checksums })
    }
}

impl SegmentWords {
    #[cfg(test)]
    pub fn encode(&self, id: u64) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend(self.map.to_be_bytes());
        body.extend(self.attempt.to_be_bytes());
        body.extend(self.raw_bytes.to_be_bytes());
        body.extend(self.stored_bytes.to_be_bytes());
        put_host(&mut body, &self.host);
        put_checksums(&mut body, &self.checksums);
        framed(SEGMENT, id, &body)
    }

    /// Reads the body of a SEGMENT message. Returns an error unless all of it is one, with a checksum for each 64 KiB.
    pub fn decode(body: &[u8]) -> Result<SegmentWords, Malformed> {
        let mut rest = Cursor(body);
        let (map, attempt, raw_bytes, stored_bytes) = (rest.u32()?, rest.u32()?, rest.u64()?, rest.u64()?);
        let host = rest.host()?;
        if host.is_empty() {
            return Err(Malformed("a segment of no host"));
        }
        let checksums = rest.checksums(stored_bytes)?;
        rest.end()?;
        Ok(SegmentWords { map, attempt, host, raw_bytes, stored_bytes, checksums })
    }
}

/// The next message that a reducer must send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedMessage {
    Merge,
    /// A segment, with at most so many checksums.
    Segment(u32),
}

/// Reads the header of the next message: the bytes of its body, and its number. Returns an error for another kind, or
/// a length that it cannot have.
pub fn body_length(header: &[u8; HEADER], expected: ExpectedMessage) -> Result<(u32, u64), Malformed> {
    let MessageHeader { length, kind, flags, id } = MessageHeader::read(header)?;
    let (right, most) = match expected {
        ExpectedMessage::Merge => (MERGE, MERGE_WORDS),
        ExpectedMessage::Segment(checksums) => (SEGMENT, SEGMENT_WORDS + 4 * checksums.min(MOST_CHECKSUMS)),
    };
    if kind != right || flags != 0 || length > most {
        return Err(Malformed("not the message that belongs here, or too long"));
    }
    Ok((length, id))
}

/// Says that the segments may be sent.
pub fn ready(id: u64) -> Vec<u8> {
    framed(READY, id, &[])
}

/// Says that the merge has all memory that it needs, and that blocks will follow.
pub fn merging(id: u64) -> Vec<u8> {
    framed(MERGING, id, &[])
}

/// Returns the head of a block of `length` bytes. The checksum is the CRC32C of all bytes of the stream up to the end
/// of this block.
pub fn block_head(id: u64, length: usize, checksum: u32) -> [u8; BLOCK_HEAD] {
    let body = [(length as u32).to_be_bytes(), checksum.to_be_bytes()].concat();
    let mut head = [0; BLOCK_HEAD];
    head.copy_from_slice(&framed(BLOCK, id, &body));
    head
}

/// Says that the stream has ended, and how many records and bytes it had.
pub fn merged(id: u64, records: u64, bytes: u64) -> Vec<u8> {
    framed(MERGED, id, &[records.to_be_bytes(), bytes.to_be_bytes()].concat())
}

fn framed(kind: u8, id: u64, body: &[u8]) -> Vec<u8> {
    crate::frame::framed(kind, 0, id, body, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::CHECKSUM_BYTES;
    use crate::random::Random;
    use crate::testing::ifile::CLASSES;

    fn request(random: &mut Random) -> MergeRequest {
        MergeRequest {
            job: JobKey { cluster: random.next(), number: random.next() as u32 },
            partition: random.next() as u32,
            order: CLASSES[random.below(5) as usize],
            codec: SegmentCodec::of(random.below(5) as u8).unwrap(),
            sealed: random.below(2) == 1,
            skip: random.next(),
            patience: random.below(u64::from(MOST_PATIENCE) + 1) as u32,
            segments: random.below(u64::from(MOST_SEGMENTS) + 1) as u32,
            checksums: random.next() as u32,
        }
    }

    fn segment(random: &mut Random) -> SegmentWords {
        let stored_bytes = random.below(1 << 20);
        let checksums = (0..stored_bytes.div_ceil(CHECKSUM_BYTES)).map(|_| random.next() as u32).collect();
        let (map, attempt) = (random.next() as u32, random.next() as u32);
        let (host, raw_bytes) = ("node-7.example".to_owned(), random.next());
        SegmentWords { map, attempt, host, raw_bytes, stored_bytes, checksums }
    }

    #[test]
    fn what_is_said_is_read_back_and_nothing_else_is() {
        let mut random = Random::new(51);
        for id in 0..5_000 {
            let (request, segment) = (request(&mut random), segment(&mut random));
            let sums = segment.checksums.len() as u32;
            for (mut bytes, expected) in
                [(request.encode(id), ExpectedMessage::Merge), (segment.encode(id), ExpectedMessage::Segment(sums))]
            {
                let header = body_length(bytes[..HEADER].try_into().unwrap(), expected).unwrap();
                assert_eq!(header, ((bytes.len() - HEADER) as u32, id));
                let too_long = body_length(bytes[..HEADER].try_into().unwrap(), ExpectedMessage::Segment(0));
                assert!(too_long.is_err() || sums < 80);
                let body = &bytes[HEADER..];
                match expected {
                    ExpectedMessage::Merge => assert_eq!(MergeRequest::decode(body), Ok(request.clone())),
                    ExpectedMessage::Segment(_) => assert_eq!(SegmentWords::decode(body), Ok(segment.clone())),
                }
                assert!(MergeRequest::decode(&[body, &[0]].concat()).is_err());
                assert!(SegmentWords::decode(&[body, &[0]].concat()).is_err());
                let at = random.below(bytes.len() as u64) as usize;
                bytes[at] = random.next() as u8;
                let kept = HEADER.max(random.below(bytes.len() as u64 + 1) as usize);
                let _ = (MergeRequest::decode(&bytes[HEADER..kept]), SegmentWords::decode(&bytes[HEADER..kept]));
                let _ = body_length(bytes[..HEADER].try_into().unwrap(), expected);
            }
        }
    }
}
