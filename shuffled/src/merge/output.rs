//! Sends the merged stream to a reducer in blocks. The socket is the queue: what the reducer does not take stops the
//! merge.

use crate::link::Until;
use crate::merge::wire::{block_head, BLOCK_HEAD, LARGEST_BLOCK};
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// The blocks of one merged stream.
pub struct MergedBlocks<'a> {
    stream: &'a UnixStream,
    id: u64,
    unread: Duration,
    /// Bytes at the beginning of the stream that the reducer has already.
    skip: u64,
    /// The CRC32C of all bytes before this block.
    checksum: u32,
    /// Room for a head, and the bytes of the block.
    block: Vec<u8>,
    /// Bytes that were sent.
    pub sent: u64,
}

impl<'a> MergedBlocks<'a> {
    /// Returns blocks of the stream behind its first `skip` bytes. A reducer that takes nothing for `unread` is given
    /// up.
    pub fn new(stream: &'a UnixStream, id: u64, skip: u64, unread: Duration) -> MergedBlocks<'a> {
        let mut block = Vec::with_capacity(BLOCK_HEAD + LARGEST_BLOCK);
        block.resize(BLOCK_HEAD, 0);
        MergedBlocks { stream, id, unread, skip, checksum: 0, block, sent: 0 }
    }

    /// Adds bytes of the stream. Bytes that are added together are in one block, if they fit into one.
    pub fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        if self.block.len() + bytes.len() > BLOCK_HEAD + LARGEST_BLOCK {
            self.flush()?;
        }
        while bytes.len() > LARGEST_BLOCK {
            let (part, rest) = bytes.split_at(LARGEST_BLOCK);
            self.block.extend_from_slice(part);
            self.flush()?;
            bytes = rest;
        }
        self.block.extend_from_slice(bytes);
        Ok(())
    }

    /// Sends what was added and not sent.
    pub fn flush(&mut self) -> io::Result<()> {
        let bytes = &self.block[BLOCK_HEAD..];
        self.checksum = crc32c::crc32c_append(self.checksum, bytes);
        let skipped = self.skip.min(bytes.len() as u64) as usize;
        self.skip -= skipped as u64;
        let length = bytes.len() - skipped;
        if length > 0 {
            // The head takes the place of the last bytes that are skipped, or of nothing.
            self.block[skipped..skipped + BLOCK_HEAD].copy_from_slice(&block_head(self.id, length, self.checksum));
            let mut out = Until { stream: self.stream, end: Instant::now() + self.unread };
            out.write_all(&self.block[skipped..])?;
            self.sent += length as u64;
        }
        self.block.truncate(BLOCK_HEAD);
        Ok(())
    }
}
