//! Bounds the memory of merges, which is held as long as reduce() works. It is a part of what the daemon may hold, so
//! that requests that end soon always find some.

use crate::budget::{MemoryBudget, Reserved};
use crate::merge::codec::SegmentCodec;
use crate::merge::records::FREE_KEY;
use crate::merge::wire::{MergeRequest, SegmentWords, LARGEST_BLOCK};
use crate::shares::Payer;
use crate::wire::{RefusalReason, Refused, CHECKSUM_BYTES, LARGEST_READ};
use std::sync::Arc;
use std::time::Duration;

/// Most merges at once, of which jobs and users have fair shares.
const MOST_MERGES: u64 = 256;
/// From here on merges may hold half of the daemon's memory; where it has less, a quarter.
const HALF_FROM: u64 = 8 << 20;
/// The part of the merges' memory that one merge takes for windows, unless the smallest windows need more.
const OF_ONE: u64 = 8;
/// How long a merge that is under way waits for the memory of a longer key than it had.
const FOR_A_KEY: Duration = Duration::from_secs(5);
/// Bytes that the description of a segment takes besides its checksums, and the copies of small keys.
const DESCRIPTION: u64 = 512 + 2 * FREE_KEY as u64;

/// The memory for merges, and their number.
pub struct MergeBudget {
    all: Arc<MemoryBudget>,
    merges: Arc<MemoryBudget>,
    slots: Arc<MemoryBudget>,
    bytes: u64,
}

/// The memory that one merge holds, until this is dropped.
pub struct MergeMemory {
    budget: Arc<MergeBudget>,
    payer: Payer,
    held: Vec<(Reserved, Reserved)>,
    _slot: Reserved,
}

impl MergeBudget {
    /// Returns the bound of merges in a daemon with this budget.
    pub fn new(all: Arc<MemoryBudget>) -> Arc<MergeBudget> {
        let bytes = all.all() / if all.all() >= HALF_FROM { 2 } else { 4 };
        let (merges, slots) = (MemoryBudget::new(bytes), MemoryBudget::new(MOST_MERGES));
        Arc::new(MergeBudget { all, merges, slots, bytes })
    }

    /// Begins a merge: reserves memory for the descriptions of its segments. Refuses if there are more than would ever
    /// fit, or too many merges.
    pub fn begin(self: &Arc<Self>, payer: Payer, request: &MergeRequest) -> Result<MergeMemory, Refused> {
        let slot = self.slots.reserve(payer, 1, Duration::ZERO);
        let busy = || Refused::new(RefusalReason::Busy, "the job or its user has its share of this node's merges");
        let slot = slot.ok_or_else(busy)?;
        let (budget, held) = (Arc::clone(self), Vec::new());
        let mut memory = MergeMemory { budget, payer, held, _slot: slot };
        // Twice: as they come, and as they are kept.
        let sums = 2 * 4 * u64::from(request.checksums);
        memory.take(u64::from(request.segments) * DESCRIPTION + sums + 2 * LARGEST_BLOCK as u64, Duration::ZERO)?;
        Ok(memory)
    }
}

impl MergeMemory {
    /// Reserves two windows for each segment, and what decoding it takes, and returns the bytes of a window: a multiple
    /// of 64 KiB, and as large as the memory allows.
    pub fn windows(&mut self, segments: &[SegmentWords], codec: SegmentCodec) -> Result<u64, Refused> {
        let decoding = codec.memory() * segments.len() as u64;
        let stored = |window: u64| segments.iter().map(|each| each.stored_bytes.min(2 * window)).sum::<u64>();
        let need = |window: u64| decoding + stored(window);
        let mut window = u64::from(LARGEST_READ);
        loop {
            let is_smallest = window <= CHECKSUM_BYTES;
            if is_smallest || need(window) <= self.budget.bytes / OF_ONE {
                let taken = self.take(need(window), Duration::ZERO);
                if is_smallest || taken.is_ok() {
                    return taken.map(|()| window);
                }
            }
            window /= 2;
        }
    }

    /// Reserves memory for two copies of keys of `to` bytes, where there is memory for two of `from` already.
    pub fn grow(&mut self, from: u64, to: u64) -> Result<(), Refused> {
        if 2 * to > self.budget.bytes / OF_ONE {
            let why = format!("a key of {to} bytes is more than vas-shuffled merges; set vas.shuffled.delivery=segments");
            return Err(Refused::new(RefusalReason::TooMuch, why));
        }
        self.take(2 * (to - from), FOR_A_KEY)
    }

    fn take(&mut self, bytes: u64, patience: Duration) -> Result<(), Refused> {
        let most = self.budget.bytes;
        if bytes > most {
            let why = format!("the merge needs {bytes} bytes, and all merges of this node may hold {most}");
            return Err(Refused::new(RefusalReason::TooMuch, why));
        }
        let taken = self.budget.merges.reserve(self.payer, bytes, patience).and_then(|of_merges| {
            Some((self.budget.all.reserve(self.payer, bytes, patience)?, of_merges))
        });
        let why = || format!("the merge needs {bytes} bytes, and the job's or user's share has fewer free");
        self.held.push(taken.ok_or_else(|| Refused::new(RefusalReason::Busy, why()))?);
        Ok(())
    }
}
