//! Tests of merges of compressed segments over real sockets.

use crate::merge::codec::SegmentCodec;
use crate::merge::order::WritableOrder;
use crate::merge::wire::{MergeRequest, SegmentWords};
use crate::pace::Pace;
use crate::random::Random;
use crate::testing::ifile::{encoded, merged, sorted, stream, Record, CLASSES};
use crate::testing::merger::{publish_as, request, End, Merger};
use crate::testing::node::{until, Node};
use crate::wire::{RefusalReason, Refused};
use std::net::TcpListener;
use std::os::unix::fs::FileExt;

const CODECS: [SegmentCodec; 4] = [SegmentCodec::Zlib, SegmentCodec::Gzip, SegmentCodec::Snappy, SegmentCodec::Lz4];

fn merge(
    node: &Node, codec: SegmentCodec, order: WritableOrder, words: &[SegmentWords],
) -> Result<(Vec<u8>, End), Refused> {
    let mut merger = Merger::connect(node);
    merger.ask(&MergeRequest { codec, ..request(order, words) }, words)?;
    Ok(merger.read().unwrap())
}

fn is_free(node: &Node) {
    until(|| node.budget.used() == 0 && node.metrics.merges.get() == 0);
}

#[test]
fn compressed_segments_merge_to_the_stream_of_plain_ones() {
    let mut random = Random::new(91);
    for codec in CODECS {
        for order in CLASSES {
            let node = Node::whole(TcpListener::bind("0.0.0.0:0").unwrap(), Pace::default());
            let counts = [1, 1000, 0, 600];
            let records: Vec<Vec<Record>> =
                counts.iter().map(|count| sorted(order, &mut random, *count, 200)).collect();
            let words = publish_as(&node, codec, &records);
            let (got, end) = merge(&node, codec, order, &words).unwrap();
            let right = merged(order, &records);
            assert!(got == stream(&right), "{codec:?} {order:?}");
            assert_eq!(end.unwrap().0, right.len() as u64);
            // A reducer that has some bytes gets the rest.
            let mut merger = Merger::connect(&node);
            merger.checksum = crc32c::crc32c(&got[..1000]);
            let rest = MergeRequest { codec, skip: 1000, ..request(order, &words) };
            merger.ask(&rest, &words).unwrap();
            assert!(merger.read().unwrap().0 == got[1000..]);
            is_free(&node);
        }
    }
}

#[test]
fn damage_bombs_and_other_formats_name_the_map_and_free_the_memory() {
    let mut random = Random::new(92);
    let records: Vec<Vec<Record>> = (0..2).map(|_| sorted(WritableOrder::Text, &mut random, 4000, 90)).collect();
    for codec in CODECS {
        let node = Node::start(8);
        let words = publish_as(&node, codec, &records);
        let failed = |words: &[SegmentWords]| {
            let refused = merge(&node, codec, WritableOrder::Text, words).unwrap().1.unwrap_err();
            is_free(&node);
            assert!(refused.text.contains("m_000001_0"), "{}", refused.text);
            refused
        };
        // A bit that flips on the disk after the look.
        let file = std::fs::File::options().write(true).open(node.site.output(1, 0).join("file.out")).unwrap();
        file.write_all_at(&[0x55], 100_000).unwrap();
        assert!(failed(&words).text.contains("wrong checksum at offset 65536"));
        // What the map wrote itself: a bomb, one that ends early, and another format; each with right checksums.
        let bomb = encoded(codec, &vec![0; 4 << 20]);
        let right = stream(&records[1]);
        let short = encoded(codec, &right[..right.len() / 2]);
        let plain = right.clone();
        // Of a block's format the bomb's first block promises more than the index.
        let is_block = matches!(codec, SegmentCodec::Snappy | SegmentCodec::Lz4);
        let early = if is_block { "end too early" } else { "come of it" };
        for (bytes, text) in [(bomb, "too short for its class"), (short, early), (plain, "")] {
            let stored = node.site.write_coded(1, &[(bytes, right.len() as u64)]).remove(0);
            node.supplier.outputs.forget_job(crate::testing::site::JOB);
            let mut wrong = words.clone();
            wrong[1].stored_bytes = stored.len() as u64;
            wrong[1].checksums = stored.chunks(64 << 10).map(crc32c::crc32c).collect();
            let refused = failed(&wrong);
            assert!(refused.why == RefusalReason::Damaged, "{refused:?}");
            assert!(refused.text.contains(text), "{refused:?}");
        }
    }
}

#[test]
fn decoders_are_within_the_memory_of_merges() {
    let node = Node::start(8);
    let one = vec![(1i32.to_be_bytes().to_vec(), vec![7; 10])];
    let words = publish_as(&node, SegmentCodec::Zlib, &vec![one; 60]);
    // Merges may hold 4 MiB here, and 60 decoders take more.
    let refused = merge(&node, SegmentCodec::Zlib, WritableOrder::Int, &words).unwrap_err();
    assert_eq!(refused.why, RefusalReason::TooMuch);
    let (got, end) = merge(&node, SegmentCodec::Zlib, WritableOrder::Int, &words[..12]).unwrap();
    assert!(got.len() > 12 * 10 && end.unwrap().0 == 12);
    assert!(node.budget.most() >= 12 * SegmentCodec::Zlib.memory());
    is_free(&node);
}
