//! Decodes segments of Hadoop's block format, by its SnappyCodec and Lz4Codec: the length of a block's decoded bytes,
//! then chunks until there are so many, each with the length of its stored bytes. Lengths have 4 bytes, big-endian.
//! The formats have no checksum: the CRC32C of each 64 KiB, which is compared before, finds what a disk changed.

use crate::merge::codec::{damaged, SegmentCodec, Stored};
use crate::merge::records::SegmentWindows;
use crate::wire::Refused;

/// Bytes of a codec's buffer in Hadoop, unless a job says otherwise: the most that one chunk decodes to, or has stored.
const LARGEST_CHUNK: usize = 256 << 10;
/// Bytes that decoding holds: a chunk as it is stored, decoded, and what is smaller.
pub const MEMORY: u64 = 2 * LARGEST_CHUNK as u64 + (16 << 10);
const LENGTH: u64 = 4;
const MOST_OF_A_BYTE: u64 = 255;

/// The state of decoding one segment.
pub struct BlockDecoder {
    codec: SegmentCodec,
    raw_bytes: u64,
    made: u64,
    /// Decoded bytes that are left of the block.
    block: u64,
}

impl BlockDecoder {
    /// Returns the decoder of a segment of so many decoded bytes.
    pub fn new(codec: SegmentCodec, raw_bytes: u64) -> BlockDecoder {
        BlockDecoder { codec, raw_bytes, made: 0, block: 0 }
    }

    /// Returns the decoded bytes of the next chunk. The last come when all that follows them was found right.
    pub fn next(
        &mut self, stored: &mut Stored, source: &mut impl SegmentWindows<Error = Refused>,
    ) -> Result<Option<Vec<u8>>, Refused> {
        if self.made == self.raw_bytes {
            return Ok(None);
        }
        if self.block == 0 {
            self.block = length(stored, source)?;
            if self.block == 0 {
                return Err(damaged(format_args!("{} bytes of {} come of it", self.made, self.raw_bytes)));
            }
            if self.block > self.raw_bytes - self.made {
                return Err(damaged(format_args!("more than {} bytes come of it", self.raw_bytes)));
            }
        }
        let chunk = self.chunk(stored, source)?;
        (self.made, self.block) = (self.made + chunk.len() as u64, self.block - chunk.len() as u64);
        if self.made == self.raw_bytes {
            end(stored, source)?;
        }
        Ok(Some(chunk))
    }

    fn chunk(
        &self, stored: &mut Stored, source: &mut impl SegmentWindows<Error = Refused>,
    ) -> Result<Vec<u8>, Refused> {
        let count = length(stored, source)?;
        if count == 0 || count > LARGEST_CHUNK as u64 || count > stored.left()? {
            return Err(damaged(format_args!("a chunk of {count} bytes")));
        }
        let mut bytes = vec![0; count as usize];
        stored.take(&mut bytes, source)?;
        // A byte of either format stands for at most 255: so few bytes get no large buffer.
        let room = self.block.min(LARGEST_CHUNK as u64).min(MOST_OF_A_BYTE * count) as usize;
        let decoded = match self.codec {
            SegmentCodec::Snappy => snappy(&bytes, room),
            _ => lz4(&bytes, room),
        };
        decoded.filter(|decoded| !decoded.is_empty()).ok_or_else(|| damaged("it is not compressed as the job says"))
    }
}

/// Returns what a chunk decodes to; None if it is none, or decodes to more.
fn snappy(bytes: &[u8], room: usize) -> Option<Vec<u8>> {
    let count = snap::raw::decompress_len(bytes).ok().filter(|count| *count <= room)?;
    let mut decoded = vec![0; count];
    let made = snap::raw::Decoder::new().decompress(bytes, &mut decoded).ok()?;
    (made == count).then_some(decoded)
}

/// Returns what a chunk decodes to; None if it is none, or decodes to more.
fn lz4(bytes: &[u8], room: usize) -> Option<Vec<u8>> {
    let mut decoded = vec![0; room];
    let made = lz4_flex::block::decompress_into(bytes, &mut decoded).ok()?;
    decoded.truncate(made);
    Some(decoded)
}

fn length(stored: &mut Stored, source: &mut impl SegmentWindows<Error = Refused>) -> Result<u64, Refused> {
    if stored.left()? < LENGTH {
        return Err(damaged("its compressed bytes end too early"));
    }
    let mut bytes = [0; LENGTH as usize];
    stored.take(&mut bytes, source)?;
    Ok(u64::from(u32::from_be_bytes(bytes)))
}

/// Checks what follows the last chunk: nothing, or the block of no bytes with which Hadoop may end a stream.
fn end(stored: &mut Stored, source: &mut impl SegmentWindows<Error = Refused>) -> Result<(), Refused> {
    if stored.left()? == LENGTH && length(stored, source)? != 0 {
        return Err(damaged("more bytes come of it than its index promises"));
    }
    stored.end()
}
