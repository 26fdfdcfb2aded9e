//! Checks one segment: reads it once, in steps, so that a large one does not hold up others.

use crate::outputs::{damaged, refused_by, Output};
use crate::index::Part;
use crate::wire::{LookAnswer, RefusalReason, Refused, CHECKSUM_BYTES, MOST_CHECKSUMS};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Most bytes of a segment that are read in one step.
pub const STEP: u64 = 4 << 20;
/// Bytes of IFile's checksum at the end of a segment.
const IFILE_CHECKSUM: u64 = 4;
/// The raw size of a segment without a record: its end marker.
const EMPTY: u64 = 2;

/// A look at one segment that is under way.
pub struct SegmentLook {
    output: Arc<Output>,
    partition: u32,
    part: Part,
    verify: bool,
    keep: bool,
    done: u64,
    sums: Vec<u32>,
    held: Vec<u8>,
    whole: crc32fast::Hasher,
    tail: Vec<u8>,
}

impl SegmentLook {
    /// Begins a look at a partition's segment, and reads nothing yet. A segment without a record counts as empty, and
    /// has no checksums: nobody reads its bytes.
    ///
    /// The answer has the segment's bytes if there are at most `hold`. With `verify` IFile's checksum must be right.
    /// Refuses if there is no such partition, or its segment is larger than 16 GiB.
    pub fn new(output: Arc<Output>, partition: u32, hold: u32, verify: bool) -> Result<SegmentLook, Refused> {
        let mut part = output.part(partition)?;
        if part.raw_bytes <= EMPTY {
            part.stored_bytes = 0;
        }
        if part.stored_bytes.div_ceil(CHECKSUM_BYTES) > u64::from(MOST_CHECKSUMS) {
            let why = format!("{}: a segment of {} bytes is larger than 16 GiB", output.name, part.stored_bytes);
            return Err(Refused::new(RefusalReason::TooMuch, why));
        }
        let keep = part.stored_bytes <= u64::from(hold);
        let whole = crc32fast::Hasher::new();
        let (sums, held, tail) = (vec![], vec![], vec![]);
        Ok(SegmentLook { output, partition, part, verify, keep, done: 0, sums, held, whole, tail })
    }

    /// Returns the bytes of memory that the answer takes.
    pub fn memory(&self) -> u64 {
        4 * self.part.stored_bytes.div_ceil(CHECKSUM_BYTES) + if self.keep { self.part.stored_bytes } else { 0 }
    }

    /// Returns the range of the file that the next step reads: offset and length, in bytes.
    pub fn next(&self) -> (u64, u64) {
        (self.part.start + self.done, STEP.min(self.part.stored_bytes - self.done))
    }

    /// Reads one step, and calls `each` for every 64 KiB. Returns whether the whole segment is read. Refuses if the
    /// disk fails.
    pub fn step(&mut self, each: &dyn Fn()) -> Result<bool, Refused> {
        let end = self.done + self.next().1;
        let summed = self.part.stored_bytes.saturating_sub(IFILE_CHECKSUM);
        let mut block = vec![0; CHECKSUM_BYTES.min(self.part.stored_bytes) as usize];
        while self.done < end {
            let count = CHECKSUM_BYTES.min(end - self.done) as usize;
            let bytes = &mut block[..count];
            let read = self.output.file.read_exact_at(bytes, self.part.start + self.done);
            read.map_err(|error| refused_by(error, self.output.name))?;
            self.sums.push(crc32c::crc32c(bytes));
            let inside = summed.saturating_sub(self.done).min(count as u64) as usize;
            self.whole.update(&bytes[..inside]);
            self.tail.extend_from_slice(&bytes[inside..]);
            if self.keep {
                self.held.extend_from_slice(bytes);
            }
            self.done += count as u64;
            each();
        }
        Ok(self.done == self.part.stored_bytes)
    }

    /// Returns the answer, after the last step. Refuses as damaged if IFile's checksum is wrong.
    pub fn finish(self) -> Result<LookAnswer, Refused> {
        let Part { stored_bytes, raw_bytes, .. } = self.part;
        let is_right = stored_bytes == 0 || self.tail == self.whole.finalize().to_be_bytes();
        if self.verify && !is_right {
            let why = format!("partition {} has a wrong IFile checksum", self.partition);
            return Err(damaged(self.output.name, &why));
        }
        Ok(LookAnswer { stored_bytes, raw_bytes, checksums: self.sums, held: self.held })
    }
}

/// Looks at a whole segment at once.
#[cfg(test)]
pub fn look(output: &Arc<Output>, partition: u32, hold: u32, verify: bool) -> Result<LookAnswer, Refused> {
    let mut look = SegmentLook::new(Arc::clone(output), partition, hold, verify)?;
    while !look.step(&|| {})? {}
    look.finish()
}
