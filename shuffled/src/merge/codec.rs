//! Decodes compressed segments, window by window. No input makes it hold more than a window and a decoder, or give
//! more bytes than the segment's index promises.

use crate::merge::blocks::{self, BlockDecoder};
use crate::merge::inflate::{self, Inflate};
use crate::merge::records::{SegmentWindows, END_MARKER};
use crate::merge::wire::SegmentWords;
use crate::wire::{RefusalReason, Refused};

/// Bytes of IFile's own checksum behind a segment's stored bytes.
const IFILE_CHECKSUM: u64 = 4;

/// The way in which a job's map output is compressed. The numbers are those of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SegmentCodec {
    Plain = 0,
    /// The zlib format, by Hadoop's DefaultCodec and DeflateCodec.
    Zlib = 1,
    /// The gzip format, by Hadoop's GzipCodec.
    Gzip = 2,
    /// Blocks by Hadoop's SnappyCodec.
    Snappy = 3,
    /// Blocks by Hadoop's Lz4Codec.
    Lz4 = 4,
}

impl SegmentCodec {
    pub fn of(number: u8) -> Option<SegmentCodec> {
        use SegmentCodec::{Gzip, Lz4, Plain, Snappy, Zlib};
        [Plain, Zlib, Gzip, Snappy, Lz4].into_iter().find(|codec| *codec as u8 == number)
    }

    /// Returns whether a segment of records can have these sizes.
    pub fn fits(self, words: &SegmentWords) -> bool {
        let Some(stored) = words.stored_bytes.checked_sub(IFILE_CHECKSUM) else { return false };
        words.raw_bytes > END_MARKER && (self != SegmentCodec::Plain || stored == words.raw_bytes)
    }

    /// Returns the bytes that decoding holds for each open segment, besides the windows of stored bytes.
    pub fn memory(self) -> u64 {
        match self {
            SegmentCodec::Plain => 0,
            SegmentCodec::Zlib | SegmentCodec::Gzip => inflate::MEMORY,
            SegmentCodec::Snappy | SegmentCodec::Lz4 => blocks::MEMORY,
        }
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
    stored: Stored,
    format: Format,
}

/// The formats, each with what it keeps between two windows.
enum Format {
    Inflate(Inflate),
    Blocks(BlockDecoder),
}

/// The stored bytes of a segment, as its windows come.
pub struct Stored {
    /// The bytes of all of it, with IFile's checksum.
    bytes: u64,
    /// The window, and the first byte of it that is not used.
    pub input: Vec<u8>,
    pub at: usize,
    /// Bytes before this window.
    passed: u64,
}

impl<W: SegmentWindows<Error = Refused>> DecodedWindows<W> {
    /// Returns the windows of a segment with these sizes, whose stored bytes come from `source`.
    pub fn new(source: W, codec: SegmentCodec, words: &SegmentWords) -> DecodedWindows<W> {
        let format = match codec {
            SegmentCodec::Plain => return DecodedWindows { source, decoder: None },
            SegmentCodec::Zlib | SegmentCodec::Gzip => Format::Inflate(Inflate::new(codec, words.raw_bytes)),
            SegmentCodec::Snappy | SegmentCodec::Lz4 => Format::Blocks(BlockDecoder::new(codec, words.raw_bytes)),
        };
        let stored = Stored { bytes: words.stored_bytes, input: Vec::new(), at: 0, passed: 0 };
        DecodedWindows { source, decoder: Some(Box::new(Decoder { stored, format })) }
    }

    pub fn source(&self) -> &W {
        &self.source
    }
}

impl<W: SegmentWindows<Error = Refused>> SegmentWindows for DecodedWindows<W> {
    type Error = Refused;

    fn next(&mut self) -> Result<Option<Vec<u8>>, Refused> {
        let Some(decoder) = &mut self.decoder else { return self.source.next() };
        match &mut decoder.format {
            Format::Inflate(inflate) => inflate.next(&mut decoder.stored, &mut self.source),
            Format::Blocks(blocks) => blocks.next(&mut decoder.stored, &mut self.source),
        }
    }

    fn grow(&mut self, from: usize, to: usize) -> Result<(), Refused> {
        self.source.grow(from, to)
    }
}

impl Stored {
    /// Goes to the next window of stored bytes if this one is used up.
    pub fn fill(&mut self, source: &mut impl SegmentWindows<Error = Refused>) -> Result<(), Refused> {
        while self.at == self.input.len() {
            self.passed += self.input.len() as u64;
            self.at = 0;
            // The memory of the old window is free before the next one is waited for.
            self.input = Vec::new();
            self.input = source.next()?.ok_or_else(|| damaged("its compressed bytes end too early"))?;
        }
        Ok(())
    }

    /// Takes the next bytes, as many as there is room for.
    pub fn take(
        &mut self, mut into: &mut [u8], source: &mut impl SegmentWindows<Error = Refused>,
    ) -> Result<(), Refused> {
        while !into.is_empty() {
            self.fill(source)?;
            let count = into.len().min(self.input.len() - self.at);
            let (now, later) = into.split_at_mut(count);
            now.copy_from_slice(&self.input[self.at..self.at + count]);
            (into, self.at) = (later, self.at + count);
        }
        Ok(())
    }

    /// Returns the bytes that are left before IFile's checksum; an error where it has begun.
    pub fn left(&self) -> Result<u64, Refused> {
        let used = self.passed + self.at as u64 + IFILE_CHECKSUM;
        self.bytes.checked_sub(used).ok_or_else(|| damaged(ELSEWHERE))
    }

    /// Checks that nothing but IFile's checksum is left.
    pub fn end(&self) -> Result<(), Refused> {
        if self.left()? == 0 { Ok(()) } else { Err(damaged(ELSEWHERE)) }
    }
}

const ELSEWHERE: &str = "its compressed bytes end elsewhere than the segment does";

pub fn damaged(what: impl std::fmt::Display) -> Refused {
    Refused::new(RefusalReason::Damaged, what)
}

#[cfg(test)]
#[path = "codec_tests.rs"]
mod tests;
