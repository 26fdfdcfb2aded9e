//! Encodes and decodes the messages of the daemons' protocol (docs/adr/0019), and bounds the length of each. Pure.

use crate::frame::{framed, put_checksums, put_host, put_job};
use crate::names::{JobKey, MapAttemptId};
use std::fmt;

pub use crate::frame::{Cursor, Malformed, MessageHeader, CHECKSUM_BYTES, HEADER, MOST_CHECKSUMS};

/// The first bytes that both ends of a connection send; a nonce follows.
pub const MAGIC: &[u8; 8] = b"VASJBS02";
/// Bytes of the tag behind an authenticated message.
pub const TAG: usize = 16;
/// Bytes of a whole HMAC-SHA256.
pub const MAC: usize = 32;
/// Most bytes of a segment in one answer.
pub const LARGEST_READ: u32 = 1 << 20;
/// Most bytes of a segment that come with the answer to a look.
pub const LARGEST_HELD: u32 = 128 << 10;
const LARGEST_REQUEST: usize = 512;
const LARGEST_TEXT: usize = 400;
const LARGEST_ANSWER: usize = 24 + 4 * MOST_CHECKSUMS as usize + LARGEST_HELD as usize;

/// The flag of a message that has a tag.
pub const TAGGED: u8 = 1;

/// The reason of a refusal. The numbers are those of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RefusalReason {
    /// The job is not known on this node, or its secret is another.
    NotAllowed = 1,
    /// The output does not exist, or does not belong to the job's user.
    Gone = 2,
    /// The output is there, but its bytes are not what was written.
    Damaged = 3,
    /// The disk of the node that is asked failed, or something else there.
    Sick = 4,
    /// The other node cannot be reached.
    Unreachable = 5,
    /// More was asked than the protocol allows.
    TooMuch = 6,
    /// The reducer's own node is in trouble: its network, or its daemon. Only that daemon gives this reason, to
    /// reducers.
    Here = 7,
    /// The job or its user has its share of the daemon's memory, files or connections; a moment later there may be
    /// more.
    Busy = 8,
    /// Records of a map do not come in the order of their keys. Only a reducer's own daemon gives this reason, to
    /// reducers that it merges for.
    Disorder = 9,
}

impl RefusalReason {
    fn of(number: u8) -> Option<RefusalReason> {
        use RefusalReason::*;
        let all = [NotAllowed, Gone, Damaged, Sick, Unreachable, TooMuch, Here, Busy, Disorder];
        all.into_iter().find(|r| *r as u8 == number)
    }
}

/// A refusal: its reason, and one line of text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub why: RefusalReason,
    pub text: String,
}

impl Refused {
    pub fn new(why: RefusalReason, text: impl fmt::Display) -> Refused {
        Refused { why, text: text.to_string() }
    }
}

/// The question that a request asks about one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Asks for the segment's sizes and checksums, and for its bytes too if there are at most `hold`. With `verify`
    /// IFile's own checksum must be right; in an encrypted segment only the job can compute it. With `sealed`, in
    /// requests of reducers only, the job demands that its bytes leave a node by TLS only.
    Look { hold: u32, verify: bool, sealed: bool },
    /// Asks for `length` bytes of the segment, from `offset` on.
    Read { offset: u64, length: u32 },
}

/// A request: a segment of a map's output, and the question about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub map: MapAttemptId,
    pub partition: u32,
    pub ask: Ask,
    /// The host where the map ran, in requests of reducers to their own node; empty between daemons.
    pub host: String,
}

/// The answer to a look: the segment's sizes, the CRC32C of each 64 KiB, and its bytes if they were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookAnswer {
    pub stored_bytes: u64,
    pub raw_bytes: u64,
    pub checksums: Vec<u32>,
    pub held: Vec<u8>,
}

/// A message of the protocol, without its header and tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    Auth { job: JobKey, mac: [u8; MAC] },
    Authenticated { mac: [u8; MAC] },
    Ask(Request),
    Looked(LookAnswer),
    /// Says how many bytes of a segment follow the message and its tag.
    Data { length: u32 },
    Refused(Refused),
    /// Says that the disk works on this request or on those before it. Any number of these come before an answer.
    Working,
}

/// The kinds of messages that the other end of a connection may send now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    Requests,
    /// Answers of a node that has proved nothing yet: none is large.
    SmallAnswers,
    Answers,
}

const AUTH: u8 = 1;
const AUTHENTICATED: u8 = 2;
const LOOK: u8 = 3;
const READ: u8 = 4;
const LOOKED: u8 = 5;
const DATA: u8 = 6;
const REFUSED: u8 = 7;
const WORKING: u8 = 8;

impl MessageHeader {
    /// Reads a header. Returns an error for an unknown kind or flag, or a length that its kind cannot have.
    pub fn decode(bytes: &[u8; HEADER]) -> Result<MessageHeader, Malformed> {
        let header = MessageHeader::read(bytes)?;
        let most = match header.kind {
            LOOKED => LARGEST_ANSWER,
            AUTH | AUTHENTICATED | LOOK | READ | DATA | REFUSED | WORKING => LARGEST_REQUEST,
            _ => return Err(Malformed("an unknown kind of message")),
        };
        if header.length as usize > most || header.flags & !TAGGED != 0 {
            return Err(Malformed("a message longer than its kind may be, or of unknown flags"));
        }
        Ok(header)
    }

    /// Returns an error if `accept` does not allow a message with this header; no byte of the message is read before.
    pub fn check(&self, accept: Accept) -> Result<(), Malformed> {
        let is_request = matches!(self.kind, AUTH | LOOK | READ);
        match accept {
            Accept::Requests if !is_request => Err(Malformed("an answer where a request belongs")),
            Accept::SmallAnswers | Accept::Answers if is_request => Err(Malformed("a request where an answer belongs")),
            Accept::SmallAnswers if self.length as usize > LARGEST_REQUEST => {
                Err(Malformed("a large answer of a node that proved nothing"))
            }
            _ => Ok(()),
        }
    }

    pub fn is_tagged(&self) -> bool {
        self.flags & TAGGED != 0
    }
}

impl Message {
    /// Returns the bytes of a message with its header, which says by `tagged` that a tag follows.
    pub fn encode(&self, id: u64, tagged: bool) -> Vec<u8> {
        let mut body = Vec::new();
        let kind = self.body(&mut body);
        framed(kind, if tagged { TAGGED } else { 0 }, id, &body, TAG)
    }

    fn body(&self, out: &mut Vec<u8>) -> u8 {
        match self {
            Message::Auth { job, mac } => {
                put_job(out, *job);
                out.extend(mac);
                AUTH
            }
            Message::Authenticated { mac } => {
                out.extend(mac);
                AUTHENTICATED
            }
            Message::Ask(request) => put_request(out, request),
            Message::Looked(looked) => {
                out.extend(looked.stored_bytes.to_be_bytes());
                out.extend(looked.raw_bytes.to_be_bytes());
                put_checksums(out, &looked.checksums);
                out.extend((looked.held.len() as u32).to_be_bytes());
                out.extend(&looked.held);
                LOOKED
            }
            Message::Data { length } => {
                out.extend(length.to_be_bytes());
                DATA
            }
            Message::Refused(refused) => {
                let mut end = refused.text.len().min(LARGEST_TEXT);
                while !refused.text.is_char_boundary(end) {
                    end -= 1;
                }
                out.push(refused.why as u8);
                out.extend(&refused.text.as_bytes()[..end]);
                REFUSED
            }
            Message::Working => WORKING,
        }
    }

    /// Reads the bytes of a message after a header of this kind. Returns an error unless all of them are one message.
    pub fn decode(kind: u8, body: &[u8]) -> Result<Message, Malformed> {
        let mut rest = Cursor(body);
        let message = match kind {
            AUTH => Message::Auth { job: rest.job()?, mac: rest.array()? },
            AUTHENTICATED => Message::Authenticated { mac: rest.array()? },
            LOOK | READ => Message::Ask(rest.request(kind)?),
            LOOKED => Message::Looked(rest.looked()?),
            DATA => Message::Data { length: rest.at_most(LARGEST_READ)? },
            REFUSED => {
                let why = RefusalReason::of(rest.u8()?).ok_or(Malformed("an unknown refusal"))?;
                let text = String::from_utf8_lossy(rest.take(rest.0.len())?).into_owned();
                Message::Refused(Refused { why, text })
            }
            WORKING => Message::Working,
            _ => return Err(Malformed("an unknown kind of message")),
        };
        rest.end().map(|()| message)
    }
}

fn put_request(out: &mut Vec<u8>, request: &Request) -> u8 {
    put_job(out, request.map.job);
    for number in [request.map.map, request.map.attempt, request.partition] {
        out.extend(number.to_be_bytes());
    }
    let kind = match request.ask {
        Ask::Look { hold, verify, sealed } => {
            out.extend(hold.to_be_bytes());
            out.push(verify as u8 | (sealed as u8) << 1);
            LOOK
        }
        Ask::Read { offset, length } => {
            out.extend(offset.to_be_bytes());
            out.extend(length.to_be_bytes());
            READ
        }
    };
    put_host(out, &request.host);
    kind
}

impl Cursor<'_> {
    fn request(&mut self, kind: u8) -> Result<Request, Malformed> {
        let map = MapAttemptId { job: self.job()?, map: self.u32()?, attempt: self.u32()? };
        let partition = self.u32()?;
        let ask = if kind == LOOK {
            let hold = self.at_most(LARGEST_HELD)?;
            match self.u8()? {
                flags @ 0..=3 => Ask::Look { hold, verify: flags & 1 != 0, sealed: flags & 2 != 0 },
                _ => return Err(Malformed("unknown flags of a look")),
            }
        } else {
            Ask::Read { offset: self.u64()?, length: self.at_most(LARGEST_READ)? }
        };
        Ok(Request { map, partition, ask, host: self.host()? })
    }

    fn looked(&mut self) -> Result<LookAnswer, Malformed> {
        let (stored_bytes, raw_bytes) = (self.u64()?, self.u64()?);
        let checksums = self.checksums(stored_bytes)?;
        let held = self.at_most(LARGEST_HELD)?;
        if held != 0 && u64::from(held) != stored_bytes {
            return Err(Malformed("a part of a segment as the whole"));
        }
        Ok(LookAnswer { stored_bytes, raw_bytes, checksums, held: self.take(held as usize)?.to_vec() })
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
