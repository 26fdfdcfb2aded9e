//! Merges sorted segments into one order, by a tree of losers. Keys that compare equal come in the order of the
//! segments, as in the reducer's own merge.

use crate::merge::order::WritableOrder;
use crate::merge::records::{MergeFailure, RecordSink, SegmentRecords, SegmentWindows};
use std::cmp::Ordering;

const NOBODY: usize = usize::MAX;

/// A merge of the records of several segments.
pub struct Tournament<W> {
    inputs: Vec<SegmentRecords<W>>,
    order: WritableOrder,
    prefixes: Vec<u64>,
    ended: Vec<bool>,
    losers: Vec<usize>,
}

/// The failure of a merge, and the number of the segment that failed.
#[derive(Debug)]
pub struct FailedSegment<E> {
    pub input: usize,
    pub why: MergeFailure<E>,
}

/// The records and bytes that a merge handed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergedTotals {
    pub records: u64,
    pub bytes: u64,
}

impl<W: SegmentWindows> Tournament<W> {
    pub fn new(inputs: Vec<SegmentRecords<W>>, order: WritableOrder) -> Tournament<W> {
        let count = inputs.len();
        let (prefixes, ended, losers) = (vec![0; count], vec![false; count], vec![NOBODY; count.max(1)]);
        Tournament { inputs, order, prefixes, ended, losers }
    }

    pub fn inputs(&self) -> &[SegmentRecords<W>] {
        &self.inputs
    }

    /// Hands on all records in order, and returns what they were.
    pub fn run(&mut self, sink: RecordSink<'_>) -> Result<MergedTotals, FailedSegment<W::Error>> {
        let mut totals = MergedTotals::default();
        let Some(mut winner) = self.start()? else { return Ok(totals) };
        while !self.ended[winner] {
            let mut counted = |bytes: &[u8]| {
                totals.bytes += bytes.len() as u64;
                sink(bytes)
            };
            self.inputs[winner].hand_on(&mut counted).map_err(|why| FailedSegment { input: winner, why })?;
            totals.records += 1;
            self.load(winner)?;
            winner = self.replay(winner);
        }
        Ok(totals)
    }

    /// Loads the first record of each segment, and returns the segment that wins; None where there is none.
    fn start(&mut self) -> Result<Option<usize>, FailedSegment<W::Error>> {
        for input in 0..self.inputs.len() {
            self.load(input)?;
        }
        let mut winner = None;
        for input in 0..self.inputs.len() {
            winner = self.enter(input).or(winner);
        }
        Ok(winner)
    }

    /// Climbs until a node where nobody waits yet; returns the best segment when the last one enters.
    fn enter(&mut self, input: usize) -> Option<usize> {
        let (mut best, mut node) = (input, (input + self.inputs.len()) >> 1);
        while node > 0 {
            let other = self.losers[node];
            if other == NOBODY {
                self.losers[node] = best;
                return None;
            }
            if self.is_before(other, best) {
                self.losers[node] = best;
                best = other;
            }
            node >>= 1;
        }
        Some(best)
    }

    fn load(&mut self, input: usize) -> Result<(), FailedSegment<W::Error>> {
        let more = self.inputs[input].next().map_err(|why| FailedSegment { input, why })?;
        self.ended[input] = !more;
        self.prefixes[input] = if more { self.inputs[input].prefix() } else { u64::MAX };
        Ok(())
    }

    fn replay(&mut self, input: usize) -> usize {
        let (mut best, mut node) = (input, (input + self.inputs.len()) >> 1);
        while node > 0 {
            let other = self.losers[node];
            if self.is_before(other, best) {
                self.losers[node] = best;
                best = other;
            }
            node >>= 1;
        }
        best
    }

    fn is_before(&self, left: usize, right: usize) -> bool {
        match self.prefixes[left].cmp(&self.prefixes[right]) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => self.is_before_tied(left, right),
        }
    }

    fn is_before_tied(&self, left: usize, right: usize) -> bool {
        if self.ended[left] || self.ended[right] {
            return !self.ended[left] || (self.ended[right] && left < right);
        }
        if self.order.decides(self.prefixes[left]) {
            return left < right;
        }
        match self.inputs[left].content().cmp(self.inputs[right].content()) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => left < right,
        }
    }
}

#[cfg(test)]
#[path = "tournament_tests.rs"]
mod tests;
