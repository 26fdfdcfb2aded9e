//! Orders the reads on one device. Jobs take turns by bytes. Within a job, requests are grouped by file and ordered
//! by offset, adjacent ones are joined, and files take turns. It is the dissertation's MOFSupplier (4.2.1.2) with
//! fair shares, as a data structure without a thread.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;

/// Most bytes of a read that joins several requests.
pub const LONGEST_JOIN: u64 = 4 << 20;
/// Bytes that a job may read in one turn.
const QUANTUM: u64 = LONGEST_JOIN;
/// Bytes that each request is charged with besides its own: a small one takes the device's time too.
const COST: u64 = 64 << 10;

/// A range of a file, in bytes, and the request that waits for it.
#[derive(Debug, PartialEq, Eq)]
pub struct Range<T> {
    pub offset: u64,
    pub length: u64,
    /// The request that waits.
    pub ticket: T,
}

/// The waiting requests `T` of one device, by job `J` and by the job's files `K`.
pub struct ReadGroups<J, K, T> {
    jobs: HashMap<J, Line<K, T>>,
    turns: VecDeque<J>,
    arrivals: u64,
}

/// The waiting requests of one job, and the bytes that the job may still read in this turn; a debt is negative.
struct Line<K, T> {
    files: BTreeMap<K, BTreeMap<(u64, u64), Range<T>>>,
    turns: VecDeque<K>,
    credit: i128,
}

impl<J: Hash + Eq + Clone, K: Ord + Clone, T> Default for ReadGroups<J, K, T> {
    fn default() -> Self {
        ReadGroups { jobs: HashMap::new(), turns: VecDeque::new(), arrivals: 0 }
    }
}

impl<J: Hash + Eq + Clone, K: Ord + Clone, T> ReadGroups<J, K, T> {
    /// Adds a request of a job, for a range of one of the job's files.
    pub fn add(&mut self, job: J, file: K, range: Range<T>) {
        self.arrivals += 1;
        let place = (range.offset, self.arrivals);
        let line = self.jobs.entry(job).or_insert_with_key(|job| {
            self.turns.push_back(job.clone());
            Line { files: BTreeMap::new(), turns: VecDeque::new(), credit: i128::from(QUANTUM) }
        });
        let turns = &mut line.turns;
        let group = line.files.entry(file).or_insert_with_key(|file| {
            turns.push_back(file.clone());
            BTreeMap::new()
        });
        group.insert(place, range);
    }

    /// Removes and returns the requests of the next read, which follow one another in one file, in order of offset.
    /// Empty if no request waits.
    pub fn take(&mut self) -> Vec<Range<T>> {
        loop {
            let Some(job) = self.turns.front().cloned() else { return Vec::new() };
            let Some(line) = self.jobs.get_mut(&job) else { return Vec::new() };
            if line.credit <= 0 {
                line.credit += i128::from(QUANTUM);
                self.turns.rotate_left(1);
                continue;
            }
            let joined = line.take();
            line.credit -= joined.iter().map(|range| i128::from(range.length) + i128::from(COST)).sum::<i128>();
            if line.files.is_empty() {
                // A job without requests saves no credit.
                self.jobs.remove(&job);
                self.turns.pop_front();
            }
            return joined;
        }
    }
}

impl<K: Ord + Clone, T> Line<K, T> {
    // The next turn of the file comes after all other files'.
    fn take(&mut self) -> Vec<Range<T>> {
        let Some(file) = self.turns.pop_front() else { return Vec::new() };
        let Some(group) = self.files.get_mut(&file) else { return Vec::new() };
        let mut joined: Vec<Range<T>> = Vec::new();
        let mut end = 0;
        while let Some(first) = group.first_entry() {
            let next = first.get();
            let follows = joined.first().is_none_or(|start| {
                next.offset <= end && next.offset + next.length - start.offset <= LONGEST_JOIN
            });
            if !follows {
                break;
            }
            end = end.max(next.offset + next.length);
            joined.push(first.remove());
        }
        if group.is_empty() {
            self.files.remove(&file);
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
        let mut groups = ReadGroups::default();
        for (offset, ticket) in [(200, 3), (0, 1), (100, 2), (500, 4)] {
            groups.add(0, "a", range(offset, 100, ticket));
        }
        groups.add(0, "b", range(0, 10, 5));
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
            let mut groups = ReadGroups::default();
            let (mut added, mut served) = (0, Vec::new());
            for _ in 0..random.below(200) {
                if random.below(3) > 0 {
                    let (offset, length) = (random.below(64) << 17, random.below(1 << 20) + 1);
                    groups.add(random.below(3), random.below(5), range(offset, length, added));
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

    fn take(groups: &mut ReadGroups<u64, u64, u32>, served: &mut Vec<u32>) -> bool {
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
        let mut groups = ReadGroups::default();
        for number in 0..100 {
            groups.add(0, "large", range(number * 1000, 10, 0));
        }
        groups.add(0, "small", range(0, 10, 1));
        groups.take();
        assert_eq!(groups.take()[0].ticket, 1);
    }

    #[test]
    fn jobs_share_a_device_by_bytes_and_not_by_files_or_requests() {
        let mut groups = ReadGroups::default();
        for number in 0..2000 {
            // Job 0 asks for small pieces of very many files, job 1 for whole ones of one file.
            groups.add(0, number, range(0, 100, 0));
            groups.add(1, 0, range(number << 30, LONGEST_JOIN - COST, 1));
        }
        let mut costs = [0, 0];
        for _ in 0..660 {
            groups.take().iter().for_each(|each| costs[each.ticket as usize] += each.length + COST);
        }
        let [many, large] = costs.map(|cost| cost as f64);
        assert!((0.8..1.25).contains(&(many / large)), "{many} {large}");
    }

    #[test]
    fn after_a_very_large_look_others_have_their_turn() {
        let mut groups = ReadGroups::default();
        groups.add(0, 0, range(0, 1 << 34, 0));
        groups.add(0, 1, range(0, 1 << 34, 0));
        (0..1000).for_each(|number| groups.add(1, number, range(0, 1 << 20, 1)));
        assert_eq!(groups.take()[0].ticket, 0);
        assert!((0..1000).all(|_| groups.take()[0].ticket == 1));
        assert_eq!(groups.take()[0].ticket, 0);
    }
}
