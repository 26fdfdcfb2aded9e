//! Decodes segments of the zlib and the gzip format.

use crate::merge::codec::{damaged, SegmentCodec, Stored};
use crate::merge::records::SegmentWindows;
use crate::wire::Refused;
use flate2::{Decompress, FlushDecompress, Status};

/// Bytes of a window of decoded bytes.
pub const WINDOW: u64 = 64 << 10;
/// Bytes that decoding holds: a window, 32 KiB of history, tables, and what is smaller.
pub const MEMORY: u64 = WINDOW + (48 << 10);
/// The first bytes of a gzip stream as Hadoop's codec writes it: no name, no comment, no extra field.
const GZIP: [u8; 4] = [0x1f, 0x8b, 8, 0];
/// Bytes of a gzip header in all: time, level and operating system follow.
pub const GZIP_HEADER: usize = 10;
/// Bytes behind the data of a gzip stream: CRC32 and length.
const GZIP_TRAILER: usize = 8;

/// The state of decoding one segment.
pub struct Inflate {
    is_gzip: bool,
    inflate: Decompress,
    raw_bytes: u64,
    made: u64,
    sum: crc32fast::Hasher,
    is_over: bool,
}

impl Inflate {
    /// Returns the decoder of a segment of so many decoded bytes.
    pub fn new(codec: SegmentCodec, raw_bytes: u64) -> Inflate {
        let is_gzip = codec == SegmentCodec::Gzip;
        let (inflate, sum) = (Decompress::new(!is_gzip), crc32fast::Hasher::new());
        Inflate { is_gzip, inflate, raw_bytes, made: 0, sum, is_over: false }
    }

    /// Returns the next decoded bytes. The last of them come when all that follows them was found right.
    pub fn next(
        &mut self, stored: &mut Stored, source: &mut impl SegmentWindows<Error = Refused>,
    ) -> Result<Option<Vec<u8>>, Refused> {
        if self.made == self.raw_bytes {
            return Ok(None);
        }
        if self.made == 0 && self.is_gzip {
            let mut header = [0; GZIP_HEADER];
            stored.take(&mut header, source)?;
            if !header.starts_with(&GZIP) {
                return Err(damaged("not what Hadoop's gzip codec writes"));
            }
        }
        let mut window = vec![0; WINDOW.min(self.raw_bytes - self.made) as usize];
        let mut filled = 0;
        while filled < window.len() {
            if self.is_over {
                return Err(damaged(format_args!("{} bytes of {} come of it", self.made, self.raw_bytes)));
            }
            filled += self.step(&mut window[filled..], stored, source)?;
        }
        if self.is_gzip {
            self.sum.update(&window);
        }
        if self.made == self.raw_bytes {
            self.end(stored, source)?;
        }
        Ok(Some(window))
    }

    /// Decodes some bytes, and returns how many.
    fn step(
        &mut self, out: &mut [u8], stored: &mut Stored, source: &mut impl SegmentWindows<Error = Refused>,
    ) -> Result<usize, Refused> {
        stored.fill(source)?;
        let (used, made) = (self.inflate.total_in(), self.inflate.total_out());
        let result = self.inflate.decompress(&stored.input[stored.at..], out, FlushDecompress::None);
        let status = result.map_err(|_| damaged("it is not compressed as the job says"))?;
        let (used, made) = (self.inflate.total_in() - used, self.inflate.total_out() - made);
        (stored.at, self.made) = (stored.at + used as usize, self.made + made);
        self.is_over = status == Status::StreamEnd;
        if used == 0 && made == 0 && !self.is_over {
            return Err(damaged("it cannot be decompressed"));
        }
        Ok(made as usize)
    }

    /// Checks what follows the last decoded byte.
    fn end(&mut self, stored: &mut Stored, source: &mut impl SegmentWindows<Error = Refused>) -> Result<(), Refused> {
        while !self.is_over {
            if self.step(&mut [0], stored, source)? > 0 {
                return Err(damaged(format_args!("more than {} bytes come of it", self.raw_bytes)));
            }
        }
        if self.is_gzip {
            let mut trailer = [0; GZIP_TRAILER];
            stored.take(&mut trailer, source)?;
            let sum = self.sum.clone().finalize().to_le_bytes();
            if trailer != [sum, (self.raw_bytes as u32).to_le_bytes()].concat()[..] {
                return Err(damaged("wrong CRC32 of its decompressed bytes"));
            }
        }
        stored.end()
    }
}
