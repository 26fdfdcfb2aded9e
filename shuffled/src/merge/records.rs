//! Reads the records of one IFile stream from windows of its bytes. A record is used where it lies in a window; of one
//! that crosses into the next window header and key are copied, and the value is handed on in parts.

use crate::merge::order::{vint_size, WritableOrder};
use std::cmp::Ordering;
use std::io;
use std::ops::Range;

/// Bytes of the end of a stream: two lengths of -1.
pub const END_MARKER: u64 = 2;
/// Bytes of a copied key for which no memory is reserved beyond what each open segment is charged.
pub const FREE_KEY: usize = 4 << 10;

/// The end of a merge before its last record.
#[derive(Debug)]
pub enum MergeFailure<E> {
    /// The bytes of a segment are not the records of a map; the text does not name the segment.
    Bad(String),
    /// The record with this number in its segment, the first being 1, sorts before the one before it.
    Disorder(u64),
    /// A window could not be fetched, or memory for a key not be had.
    Fetch(E),
    /// Whoever takes the records failed.
    Sink(io::Error),
}

/// The bytes of one segment, in windows.
pub trait SegmentWindows {
    type Error;

    /// Returns the next bytes, verified; None after the last of them.
    fn next(&mut self) -> Result<Option<Vec<u8>>, Self::Error>;

    /// Reserves memory for two copies of keys of `to` bytes, where there is memory for two of `from` already.
    fn grow(&mut self, from: usize, to: usize) -> Result<(), Self::Error>;
}

/// A function that takes bytes of the merged stream.
pub type RecordSink<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

/// The place of a key: a part of the window, or a copy.
enum Place {
    Window(Range<usize>),
    Copy,
}

/// A cursor over the records of one segment.
pub struct SegmentRecords<W> {
    windows: W,
    order: WritableOrder,
    raw_bytes: u64,
    window: Vec<u8>,
    /// The first byte of the window that is not used yet.
    at: usize,
    /// Bytes of the windows before this one.
    passed: u64,
    count: u64,
    prefix: u64,
    /// The whole record, where it lies in the window.
    whole: Option<Range<usize>>,
    /// The lengths in front of a record that is not whole, and the bytes of its value, which begin at `at`.
    header: Vec<u8>,
    value: usize,
    key: Place,
    /// Bytes of the longest key for whose copies there is memory.
    grown: usize,
    key_copy: Vec<u8>,
    before: Place,
    before_copy: Vec<u8>,
}

impl<W: SegmentWindows> SegmentRecords<W> {
    /// Returns a cursor before the first record of a stream of `raw_bytes` bytes, the end marker included.
    pub fn new(windows: W, order: WritableOrder, raw_bytes: u64) -> SegmentRecords<W> {
        SegmentRecords {
            windows,
            order,
            raw_bytes,
            window: Vec::new(),
            at: 0,
            passed: 0,
            count: 0,
            prefix: 0,
            whole: None,
            header: Vec::new(),
            value: 0,
            key: Place::Copy,
            grown: FREE_KEY,
            key_copy: Vec::new(),
            before: Place::Copy,
            before_copy: Vec::new(),
        }
    }

    pub fn windows(&self) -> &W {
        &self.windows
    }

    /// Returns how many records there were so far.
    #[cfg(test)]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the prefix of the record's key.
    pub fn prefix(&self) -> u64 {
        self.prefix
    }

    /// Returns the part of the record's key that orders keys of one prefix.
    pub fn content(&self) -> &[u8] {
        self.order.content(placed(&self.key, &self.window, &self.key_copy))
    }

    /// Goes to the next record, and returns false at the end of the stream. The record before must have been handed
    /// on. Fails unless the bytes are records in order, and as many bytes as were promised.
    pub fn next(&mut self) -> Result<bool, MergeFailure<W::Error>> {
        std::mem::swap(&mut self.key, &mut self.before);
        std::mem::swap(&mut self.key_copy, &mut self.before_copy);
        // The key before the last is of no use any more.
        self.key = Place::Copy;
        self.whole = None;
        let start = self.at;
        let (in_place, key, value) = match lengths(&self.window[start..]) {
            Some((key, value, size)) => {
                self.at += size;
                (true, key, value)
            }
            None => {
                let (key, value) = self.crossing_lengths()?;
                (false, key, value)
            }
        };
        let used = self.passed + self.at as u64;
        if (key, value) == (-1, -1) {
            return if used == self.raw_bytes { Ok(false) } else { Err(self.bad("an end where none should be")) };
        }
        let (Ok(key), Ok(value)) = (usize::try_from(key), usize::try_from(value)) else {
            return Err(self.bad("an impossible length"));
        };
        let left = self.raw_bytes.saturating_sub(used).saturating_sub(END_MARKER);
        if (key as u64).checked_add(value as u64).is_none_or(|length| length > left) {
            return Err(self.bad("a length beyond the end of the segment"));
        }
        self.count += 1;
        if in_place && key + value <= self.window.len() - self.at {
            self.key = Place::Window(self.at..self.at + key);
            self.at += key + value;
            self.whole = Some(start..self.at);
        } else {
            if in_place {
                self.header.clear();
                self.header.extend_from_slice(&self.window[start..self.at]);
            }
            self.take_key(key)?;
            self.value = value;
        }
        self.check()?;
        Ok(true)
    }

    /// Hands on the bytes of the record as they stand in the stream, at once or in parts. To be called once for each
    /// record.
    pub fn hand_on(&mut self, sink: RecordSink<'_>) -> Result<(), MergeFailure<W::Error>> {
        if let Some(whole) = &self.whole {
            return sink(&self.window[whole.clone()]).map_err(MergeFailure::Sink);
        }
        sink(&self.header).map_err(MergeFailure::Sink)?;
        sink(placed(&self.key, &self.window, &self.key_copy)).map_err(MergeFailure::Sink)?;
        while self.value > 0 {
            self.fill()?;
            let part = self.value.min(self.window.len() - self.at);
            sink(&self.window[self.at..self.at + part]).map_err(MergeFailure::Sink)?;
            self.at += part;
            self.value -= part;
        }
        Ok(())
    }

    /// Compares the key with the one before it.
    fn check(&mut self) -> Result<(), MergeFailure<W::Error>> {
        let key = placed(&self.key, &self.window, &self.key_copy);
        if !self.order.may_be(key) {
            return Err(self.bad("a key that is too short for its class"));
        }
        let prefix = self.order.prefix(key);
        if self.count > 1 {
            let order = self.prefix.cmp(&prefix).then_with(|| match self.order.decides(prefix) {
                true => Ordering::Equal,
                false => {
                    let before = placed(&self.before, &self.window, &self.before_copy);
                    self.order.content(before).cmp(self.order.content(key))
                }
            });
            if order == Ordering::Greater {
                return Err(MergeFailure::Disorder(self.count));
            }
        }
        self.prefix = prefix;
        Ok(())
    }

    fn take_key(&mut self, length: usize) -> Result<(), MergeFailure<W::Error>> {
        if length <= self.window.len() - self.at {
            self.key = Place::Window(self.at..self.at + length);
            self.at += length;
            return Ok(());
        }
        grow(&mut self.windows, &mut self.grown, length)?;
        self.key_copy.clear();
        self.key_copy.reserve_exact(length);
        while self.key_copy.len() < length {
            self.fill()?;
            let part = (length - self.key_copy.len()).min(self.window.len() - self.at);
            self.key_copy.extend_from_slice(&self.window[self.at..self.at + part]);
            self.at += part;
        }
        Ok(())
    }

    fn crossing_lengths(&mut self) -> Result<(i64, i64), MergeFailure<W::Error>> {
        self.header.clear();
        let key = self.crossing_length()?;
        Ok((key, self.crossing_length()?))
    }

    fn crossing_length(&mut self) -> Result<i64, MergeFailure<W::Error>> {
        let from = self.header.len();
        let first = self.byte()?;
        for _ in 1..vint_size(first) {
            self.byte()?;
        }
        Ok(vint(&self.header[from..]).map_or(i64::MIN, |(value, _)| value))
    }

    /// Moves one byte of the stream to the header, and returns it.
    fn byte(&mut self) -> Result<u8, MergeFailure<W::Error>> {
        self.fill()?;
        let byte = self.window[self.at];
        self.at += 1;
        self.header.push(byte);
        Ok(byte)
    }

    /// Goes to the next window if this one is used up. Keys that lie in this one are copied.
    fn fill(&mut self) -> Result<(), MergeFailure<W::Error>> {
        while self.at == self.window.len() {
            for (place, copy) in [(&mut self.key, &mut self.key_copy), (&mut self.before, &mut self.before_copy)] {
                if let Place::Window(range) = place {
                    grow(&mut self.windows, &mut self.grown, range.len())?;
                    copy.clear();
                    copy.reserve_exact(range.len());
                    copy.extend_from_slice(&self.window[range.clone()]);
                    *place = Place::Copy;
                }
            }
            self.passed += self.window.len() as u64;
            self.at = 0;
            // The memory of the old window is free before the next one is waited for.
            self.window = Vec::new();
            let next = self.windows.next().map_err(MergeFailure::Fetch)?;
            self.window = next.ok_or_else(|| self.bad("the segment ends in the middle of a record"))?;
        }
        Ok(())
    }

    fn bad(&self, what: &str) -> MergeFailure<W::Error> {
        MergeFailure::Bad(format!("{what}, at or after record {}", self.count))
    }
}

/// Reserves memory for copies of keys of so many bytes, unless as long ones were copied before.
fn grow<W: SegmentWindows>(windows: &mut W, grown: &mut usize, bytes: usize) -> Result<(), MergeFailure<W::Error>> {
    if bytes > *grown {
        windows.grow(*grown, bytes).map_err(MergeFailure::Fetch)?;
        *grown = bytes;
    }
    Ok(())
}

fn placed<'a>(place: &Place, window: &'a [u8], copy: &'a [u8]) -> &'a [u8] {
    match place {
        Place::Window(range) => &window[range.clone()],
        Place::Copy => copy,
    }
}

/// Reads the lengths of key and value in front of a record, and how many bytes they take; None if these bytes do not
/// hold both.
fn lengths(bytes: &[u8]) -> Option<(i64, i64, usize)> {
    let (key, first) = vint(bytes)?;
    let (value, second) = vint(&bytes[first..])?;
    Some((key, value, first + second))
}

/// Reads a variable-length int as Hadoop writes it, and how many bytes it takes; None if these bytes do not hold it.
fn vint(bytes: &[u8]) -> Option<(i64, usize)> {
    let first = *bytes.first()?;
    let size = vint_size(first);
    if size == 1 {
        return Some((i64::from(first as i8), 1));
    }
    let value = bytes.get(1..size)?.iter().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
    let is_inverted = (first as i8) < -120;
    Some((if is_inverted { !value as i64 } else { value as i64 }, size))
}

#[cfg(test)]
#[path = "records_tests.rs"]
mod tests;
