use super::*;
use crate::random::Random;
use crate::testing::ifile::{merged, plain, sorted, stream, Record, CLASSES};

/// The windows of a stream in memory.
struct Whole(Vec<Vec<u8>>);

impl SegmentWindows for Whole {
    type Error = ();

    fn next(&mut self) -> Result<Option<Vec<u8>>, ()> {
        Ok(self.0.pop())
    }

    fn grow(&mut self, _: usize, _: usize) -> Result<(), ()> {
        Ok(())
    }
}

fn tournament(order: WritableOrder, segments: &[Vec<Record>], window: usize) -> Tournament<Whole> {
    let input = |records: &Vec<Record>| {
        let bytes = stream(records);
        let raw_bytes = bytes.len() as u64;
        let mut windows: Vec<Vec<u8>> = bytes.chunks(window).map(<[u8]>::to_vec).collect();
        windows.reverse();
        SegmentRecords::new(Whole(windows), order, raw_bytes)
    };
    Tournament::new(segments.iter().map(input).collect(), order)
}

#[test]
fn a_merge_is_a_stable_sort_of_all_records_in_the_order_of_segments() {
    let mut random = Random::new(41);
    for round in 0..400 {
        let order = CLASSES[round % CLASSES.len()];
        let segments: Vec<Vec<Record>> = (0..random.below(9))
            .map(|_| {
                let count = [0, 1, 2, 30][random.below(4) as usize];
                sorted(order, &mut random, count, 60)
            })
            .collect();
        let window = 1 + random.below(200) as usize;
        let mut all = Vec::new();
        let mut merge = tournament(order, &segments, window);
        let totals = merge.run(&mut |bytes| {
            all.extend_from_slice(bytes);
            Ok(())
        });
        let right = merged(order, &segments);
        assert!(all == plain(&right), "{order:?}, {} segments, windows of {window}", segments.len());
        assert_eq!(totals.unwrap(), MergedTotals { records: right.len() as u64, bytes: all.len() as u64 });
        assert!(merge.inputs().iter().zip(&segments).all(|(input, records)| input.count() == records.len() as u64));
    }
}

#[test]
fn the_segment_that_fails_is_named() {
    let order = WritableOrder::Int;
    let records = |numbers: &[i32]| numbers.iter().map(|n| (n.to_be_bytes().to_vec(), vec![])).collect::<Vec<_>>();
    let segments = [records(&[-5, 1, 2]), records(&[-7, -1, -2]), records(&[])];
    let mut merge = tournament(order, &segments, 10);
    let mut count = 0;
    let failed = merge.run(&mut |_| {
        count += 1;
        Ok(())
    });
    assert!(matches!(failed, Err(FailedSegment { input: 1, why: MergeFailure::Disorder(3) })), "{failed:?}");
    assert!(count >= 1);
}

#[test]
fn a_sink_that_fails_ends_the_merge() {
    let mut random = Random::new(42);
    let segments = [sorted(WritableOrder::Text, &mut random, 10, 10)];
    let failed = tournament(WritableOrder::Text, &segments, 100).run(&mut |_| Err(std::io::ErrorKind::BrokenPipe.into()));
    assert!(matches!(failed, Err(FailedSegment { input: 0, why: MergeFailure::Sink(_) })), "{failed:?}");
}
