//! Decodes compressed segments, window by window. No input makes it hold more than a window and a decoder, or give
//! more bytes than the segment's index promises.

use crate::merge::records::{SegmentWindows, END_MARKER};
use crate::merge::wire::SegmentWords;
use crate::wire::{RefusalReason, Refused};
use flate2::{Decompress, FlushDecompress, Status};

/// Bytes of a window of decoded bytes.
const WINDOW: u64 = 64 << 10;
/// Bytes of one decoder: 32 KiB of history, tables, and what is smaller.
const DECODER: u64 = 48 << 10;
/// Bytes of IFile's own checksum behind a segment's stored bytes.
const IFILE_CHECKSUM: u64 = 4;
/// The first bytes of a gzip stream as Hadoop's codec writes it: no name, no comment, no extra field.
const GZIP: [u8; 4] = [0x1f, 0x8b, 8, 0];
/// Bytes of a gzip header in all: time, level and operating system follow.
const GZIP_HEADER: usize = 10;
/// Bytes behind the data of a gzip stream: CRC32 and length.
const GZIP_TRAILER: usize = 8;

/// The way in which a job's map output is compressed. The numbers are those of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SegmentCodec {
    Plain = 0,
    /// The zlib format, by Hadoop's DefaultCodec and DeflateCodec.
    Zlib = 1,
    /// The gzip format, by Hadoop's GzipCodec.
    Gzip = 2,
}

impl SegmentCodec {
    pub fn of(number: u8) -> Option<SegmentCodec> {
        use SegmentCodec::{Gzip, Plain, Zlib};
        [Plain, Zlib, Gzip].into_iter().find(|codec| *codec as u8 == number)
    }

    /// Returns whether a segment of records can have these sizes.
    pub fn fits(self, words: &SegmentWords) -> bool {
        let Some(stored) = words.stored_bytes.checked_sub(IFILE_CHECKSUM) else { return false };
        words.raw_bytes > END_MARKER && (self != SegmentCodec::Plain || stored == words.raw_bytes)
    }

    /// Returns the bytes that decoding holds for each open segment, besides the windows of stored bytes.
    pub fn memory(self) -> u64 {
        if self == SegmentCodec::Plain { 0 } else { WINDOW + DECODER }
    }
}

/// The decoded bytes of one segment, in windows.
pub struct DecodedWindows<W> {
    source: W,
    /// None where nothing is compressed.
    decoder: Option<Box<Decoder>>,
}

/// The state of decoding one segment.
struct Decoder {
    codec: SegmentCodec,
    inflate: Decompress,
    raw_bytes: u64,
    stored_bytes: u64,
    /// The window of stored bytes, and the first byte of it that is not used.
    input: Vec<u8>,
    at: usize,
    /// Stored bytes before this window.
    passed: u64,
    made: u64,
    sum: crc32fast::Hasher,
    is_over: bool,
}

impl<W: SegmentWindows<Error = Refused>> DecodedWindows<W> {
    /// Returns the windows of a segment with these sizes, whose stored bytes come from `source`.
    pub fn new(source: W, codec: SegmentCodec, words: &SegmentWords) -> DecodedWindows<W> {
        let decoder = (codec != SegmentCodec::Plain).then(|| Box::new(Decoder::new(codec, words)));
        DecodedWindows { source, decoder }
    }

    pub fn source(&self) -> &W {
        &self.source
    }
}

impl<W: SegmentWindows<Error = Refused>> SegmentWindows for DecodedWindows<W> {
    type Error = Refused;

    fn next(&mut self) -> Result<Option<Vec<u8>>, Refused> {
        match &mut self.decoder {
            Some(decoder) => decoder.next(&mut self.source),
            None => self.source.next(),
        }
    }

    fn grow(&mut self, bytes: usize) -> Result<(), Refused> {
        self.source.grow(bytes)
    }
}

impl Decoder {
    fn new(codec: SegmentCodec, words: &SegmentWords) -> Decoder {
        Decoder {
            codec,
            inflate: Decompress::new(codec == SegmentCodec::Zlib),
            raw_bytes: words.raw_bytes,
            stored_bytes: words.stored_bytes,
            input: Vec::new(),
            at: 0,
            passed: 0,
            made: 0,
            sum: crc32fast::Hasher::new(),
            is_over: false,
        }
    }

    /// Returns the next decoded bytes. The last of them come when all that follows them was found right.
    fn next(&mut self, source: &mut impl SegmentWindows<Error = Refused>) -> Result<Option<Vec<u8>>, Refused> {
        if self.made == self.raw_bytes {
            return Ok(None);
        }
        if self.made == 0 && self.codec == SegmentCodec::Gzip {
            let header: [u8; GZIP_HEADER] = self.bytes(source)?;
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
            filled += self.step(&mut window[filled..], source)?;
        }
        if self.codec == SegmentCodec::Gzip {
            self.sum.update(&window);
        }
        if self.made == self.raw_bytes {
            self.end(source)?;
        }
        Ok(Some(window))
    }

    /// Decodes some bytes, and returns how many.
    fn step(
        &mut self, out: &mut [u8], source: &mut impl SegmentWindows<Error = Refused>,
    ) -> Result<usize, Refused> {
        self.fill(source)?;
        let (used, made) = (self.inflate.total_in(), self.inflate.total_out());
        let result = self.inflate.decompress(&self.input[self.at..], out, FlushDecompress::None);
        let status = result.map_err(|_| damaged("it is not compressed as the job says"))?;
        let (used, made) = (self.inflate.total_in() - used, self.inflate.total_out() - made);
        (self.at, self.made) = (self.at + used as usize, self.made + made);
        self.is_over = status == Status::StreamEnd;
        if used == 0 && made == 0 && !self.is_over {
            return Err(damaged("it cannot be decompressed"));
        }
        Ok(made as usize)
    }

    /// Checks what follows the last decoded byte.
    fn end(&mut self, source: &mut impl SegmentWindows<Error = Refused>) -> Result<(), Refused> {
        while !self.is_over {
            if self.step(&mut [0], source)? > 0 {
                return Err(damaged(format_args!("more than {} bytes come of it", self.raw_bytes)));
            }
        }
        if self.codec == SegmentCodec::Gzip {
            let trailer: [u8; GZIP_TRAILER] = self.bytes(source)?;
            let sum = self.sum.clone().finalize().to_le_bytes();
            if trailer != [sum, (self.raw_bytes as u32).to_le_bytes()].concat()[..] {
                return Err(damaged("wrong CRC32 of its decompressed bytes"));
            }
        }
        if self.passed + self.at as u64 + IFILE_CHECKSUM != self.stored_bytes {
            return Err(damaged("its compressed bytes end elsewhere than the segment does"));
        }
        Ok(())
    }

    fn bytes<const N: usize>(
        &mut self, source: &mut impl SegmentWindows<Error = Refused>,
    ) -> Result<[u8; N], Refused> {
        let mut bytes = [0; N];
        for byte in &mut bytes {
            self.fill(source)?;
            *byte = self.input[self.at];
            self.at += 1;
        }
        Ok(bytes)
    }

    /// Goes to the next window of stored bytes if this one is used up.
    fn fill(&mut self, source: &mut impl SegmentWindows<Error = Refused>) -> Result<(), Refused> {
        while self.at == self.input.len() {
            self.passed += self.input.len() as u64;
            self.at = 0;
            // The memory of the old window is free before the next one is waited for.
            self.input = Vec::new();
            self.input = source.next()?.ok_or_else(|| damaged("its compressed bytes end too early"))?;
        }
        Ok(())
    }
}

fn damaged(what: impl std::fmt::Display) -> Refused {
    Refused::new(RefusalReason::Damaged, what)
}

#[cfg(test)]
#[path = "codec_tests.rs"]
mod tests;
