//! Asks for merges as a reducer does, for tests.

use crate::auth::{Secret, Transcript};
use crate::link::receive;
use crate::merge::codec::SegmentCodec;
use crate::merge::order::WritableOrder;
use crate::merge::wire::{MergeRequest, SegmentWords, LARGEST_BLOCK, MERGE_MAGIC};
use crate::random::nonce;
use crate::testing::ifile::{encoded, stream, Record};
use crate::testing::node::{Node, HOSTS, SECRET};
use crate::testing::site::JOB;
use crate::wire::{Accept, Message, Refused, HEADER};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

pub const ID: u64 = 7;

/// The end of a merged stream: its records and bytes, or the refusal.
pub type End = Result<(u64, u64), Refused>;

/// A connection for one merge, which is proved.
pub struct Merger {
    pub socket: UnixStream,
    /// The CRC32C of all bytes of the stream so far.
    pub checksum: u32,
    pub working: usize,
}

/// Writes these records as partition 0 of maps from 0 on, and returns what looks at them find. Each is asked at another
/// address.
pub fn publish(node: &Node, segments: &[Vec<Record>]) -> Vec<SegmentWords> {
    publish_as(node, SegmentCodec::Plain, segments)
}

/// Writes records as `publish` does, compressed.
pub fn publish_as(node: &Node, codec: SegmentCodec, segments: &[Vec<Record>]) -> Vec<SegmentWords> {
    let one = |(map, records): (usize, &Vec<Record>)| {
        let bytes = stream(records);
        let stored = node.site.write_coded(map as u32, &[(encoded(codec, &bytes), bytes.len() as u64)]).remove(0);
        SegmentWords {
            map: map as u32,
            attempt: 0,
            host: HOSTS[map % HOSTS.len()].to_owned(),
            raw_bytes: bytes.len() as u64,
            stored_bytes: stored.len() as u64,
            checksums: stored.chunks(64 << 10).map(crc32c::crc32c).collect(),
        }
    };
    segments.iter().enumerate().filter(|(_, records)| !records.is_empty()).map(one).collect()
}

pub fn request(order: WritableOrder, segments: &[SegmentWords]) -> MergeRequest {
    MergeRequest {
        job: JOB,
        partition: 0,
        order,
        codec: SegmentCodec::Plain,
        sealed: false,
        skip: 0,
        patience: 200,
        segments: segments.len() as u32,
        checksums: segments.iter().map(|each| each.checksums.len() as u32).sum(),
    }
}

impl Merger {
    pub fn connect(node: &Node) -> Merger {
        let mut socket = UnixStream::connect(node.site.root.join("socket")).unwrap();
        let (asker, mut greeting) = (nonce().unwrap(), [0; 40]);
        socket.write_all(&[MERGE_MAGIC.as_slice(), &asker].concat()).unwrap();
        socket.read_exact(&mut greeting).unwrap();
        assert_eq!(greeting[..8], *MERGE_MAGIC);
        let answerer = greeting[8..].try_into().unwrap();
        let transcript = Transcript { asker, answerer, ends: String::new() };
        let mac = transcript.asker_proof(&Secret::new(SECRET.to_vec()), JOB);
        socket.write_all(&Message::Auth { job: JOB, mac }.encode(0, false)).unwrap();
        assert!(matches!(receive(&mut socket, Accept::Answers).unwrap().message, Message::Authenticated { .. }));
        Merger { socket, checksum: 0, working: 0 }
    }

    /// Says what is to be merged, until the daemon says that blocks will follow.
    pub fn ask(&mut self, request: &MergeRequest, segments: &[SegmentWords]) -> Result<(), Refused> {
        self.socket.write_all(&request.encode(ID)).unwrap();
        self.expect(11)?;
        segments.iter().for_each(|each| self.socket.write_all(&each.encode(ID)).unwrap());
        self.expect(12)
    }

    fn expect(&mut self, wanted: u8) -> Result<(), Refused> {
        loop {
            let (kind, body) = self.message().unwrap();
            refused(kind, &body)?;
            if kind != 8 {
                assert_eq!(kind, wanted);
                return Ok(());
            }
            self.working += 1;
        }
    }

    /// Reads the stream to its end or refusal. Returns an error if the connection ends before.
    pub fn read(&mut self) -> io::Result<(Vec<u8>, End)> {
        let mut all = Vec::new();
        loop {
            let (kind, body) = self.message()?;
            if let Err(refused) = refused(kind, &body) {
                return Ok((all, Err(refused)));
            }
            let number = |at: usize| u64::from_be_bytes(body[at..at + 8].try_into().unwrap());
            match kind {
                8 => self.working += 1,
                13 => {
                    let length = u32::from_be_bytes(body[..4].try_into().unwrap()) as usize;
                    assert!((1..=LARGEST_BLOCK).contains(&length));
                    let mut bytes = vec![0; length];
                    self.socket.read_exact(&mut bytes)?;
                    self.checksum = crc32c::crc32c_append(self.checksum, &bytes);
                    assert_eq!(body[4..], self.checksum.to_be_bytes());
                    all.extend(bytes);
                }
                14 => return Ok((all, Ok((number(0), number(8))))),
                _ => panic!("a message of kind {kind}"),
            }
        }
    }

    fn message(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut header = [0; HEADER];
        self.socket.read_exact(&mut header)?;
        assert_eq!(header[6..], ID.to_be_bytes());
        let mut body = vec![0; u32::from_be_bytes(header[..4].try_into().unwrap()) as usize];
        self.socket.read_exact(&mut body)?;
        Ok((header[4], body))
    }
}

fn refused(kind: u8, body: &[u8]) -> Result<(), Refused> {
    match Message::decode(kind, body) {
        Ok(Message::Refused(refused)) => Err(refused),
        _ => Ok(()),
    }
}

/// Asks a node for a merge of these segments, and reads it to its end.
pub fn merge(node: &Node, order: WritableOrder, segments: &[SegmentWords]) -> Result<(Vec<u8>, End), Refused> {
    let mut merger = Merger::connect(node);
    merger.ask(&request(order, segments), segments)?;
    Ok(merger.read().unwrap())
}
