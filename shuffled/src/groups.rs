//! The order of reads on one device: requests grouped by file, ordered by offset, adjacent ones joined,
//! files in turn. The dissertation's MOFSupplier (4.2.1.2), as a data structure without a thread.

use std::collections::{BTreeMap, VecDeque};

/// Bytes of the longest read that joins several requests.
pub const LONGEST_JOIN: u64 = 4 << 20;

/// A range of a file that somebody waits for.
#[derive(Debug, PartialEq, Eq)]
pub struct Range<T> {
    pub offset: u64,
    pub length: u64,
    /// Who waits.
    pub ticket: T,
}

/// The waiting requests of one device; `K` names a file.
pub struct Groups<K, T> {
    groups: BTreeMap<K, BTreeMap<(u64, u64), Range<T>>>,
    turns: VecDeque<K>,
    arrivals: u64,
}

impl<K: Ord + Clone, T> Default for Groups<K, T> {
    fn default() -> Self {
        Groups { groups: BTreeMap::new(), turns: VecDeque::new(), arrivals: 0 }
    }
}

impl<K: Ord + Clone, T> Groups<K, T> {
    /// Takes one more request.
    pub fn add(&mut self, file: K, range: Range<T>) {
        self.arrivals += 1;
        let place = (range.offset, self.arrivals);
        self.groups
            .entry(file)
            .or_insert_with_key(|key| {
                self.turns.push_back(key.clone());
                BTreeMap::new()
            })
            .insert(place, range);
    }

    /// Returns the next read: requests of one file that follow one another, in order of offset;
    /// nothing if nobody waits. The file's next turn comes after all others'.
    pub fn take(&mut self) -> Vec<Range<T>> {
        let Some(file) = self.turns.pop_front() else { return Vec::new() };
        let Some(group) = self.groups.get_mut(&file) else { return Vec::new() };
        let mut joined: Vec<Range<T>> = Vec::new();
        while let Some(first) = group.first_entry() {
            let next = first.get();
            let follows = joined.first().is_none_or(|start| {
                let end = joined.iter().map(|range| range.offset + range.length).max().unwrap_or(0);
                next.offset <= end && next.offset + next.length - start.offset <= LONGEST_JOIN
            });
            if !follows {
                break;
            }
            joined.push(first.remove());
        }
        if group.is_empty() {
            self.groups.remove(&file);
        } else {
            self.turns.push_back(file);
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn range(offset: u64, length: u64, ticket: u32) -> Range<u32> {
        Range { offset, length, ticket }
    }

    #[test]
    fn adjacent_requests_are_one_read_in_order_of_offset() {
        let mut groups = Groups::default();
        for (offset, ticket) in [(200, 3), (0, 1), (100, 2), (500, 4)] {
            groups.add("a", range(offset, 100, ticket));
        }
        groups.add("b", range(0, 10, 5));
        let tickets = |ranges: Vec<Range<u32>>| ranges.iter().map(|r| r.ticket).collect::<Vec<_>>();
        assert_eq!(tickets(groups.take()), [1, 2, 3]);
        assert_eq!(tickets(groups.take()), [5]);
        assert_eq!(tickets(groups.take()), [4]);
        assert!(groups.take().is_empty());
    }

    #[test]
    fn every_request_is_served_once_in_bounded_reads() {
        let mut random = Random::new(7);
        for _ in 0..300 {
            let mut groups = Groups::default();
            let (mut added, mut served) = (0, Vec::new());
            for _ in 0..random.below(200) {
                if random.below(3) > 0 {
                    let (offset, length) = (random.below(64) << 17, random.below(1 << 20) + 1);
                    groups.add(random.below(5), range(offset, length, added));
                    added += 1;
                } else {
                    take(&mut groups, &mut served);
                }
            }
            while take(&mut groups, &mut served) {}
            served.sort_unstable();
            assert_eq!(served, (0..added).collect::<Vec<_>>());
        }
    }

    fn take(groups: &mut Groups<u64, u32>, served: &mut Vec<u32>) -> bool {
        let read = groups.take();
        if let (Some(first), Some(last)) = (read.first(), read.last()) {
            assert!(read.len() == 1 || last.offset + last.length - first.offset <= LONGEST_JOIN);
            assert!(read.windows(2).all(|pair| pair[0].offset <= pair[1].offset));
        }
        served.extend(read.iter().map(|each| each.ticket));
        !read.is_empty()
    }

    #[test]
    fn no_file_waits_longer_than_one_turn_of_all_others() {
        let mut groups = Groups::default();
        for number in 0..100 {
            groups.add("large", range(number * 1000, 10, 0));
        }
        groups.add("small", range(0, 10, 1));
        groups.take();
        assert_eq!(groups.take()[0].ticket, 1);
    }
}
