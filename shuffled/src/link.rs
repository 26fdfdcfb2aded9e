//! Sends and reads what both ends of a connection have in common: the greeting, and messages with their tags.

use crate::auth::{is_equal, Direction, SessionKey, Transcript};
use crate::merge::wire::MERGE_MAGIC;
use crate::random::{nonce, NONCE};
use crate::wire::{Accept, Malformed, Message, MessageHeader, HEADER, MAGIC, TAG};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// The role of one end of a connection: the asker has connected, the answerer has accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LinkRole {
    Asker,
    Answerer,
}

/// A socket whose calls can have a time limit.
pub trait Timed {
    fn limit(&self, time: Option<Duration>) -> io::Result<()>;
}

impl Timed for TcpStream {
    fn limit(&self, time: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(time)?;
        self.set_write_timeout(time)
    }
}

impl Timed for UnixStream {
    fn limit(&self, time: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(time)?;
        self.set_write_timeout(time)
    }
}

/// A socket whose reads and writes fail after an instant, however slowly bytes come and go.
pub struct Until<'a, S> {
    pub stream: &'a S,
    pub end: Instant,
}

impl<S: Timed> Until<'_, S> {
    fn limit(&self) -> io::Result<()> {
        match self.end.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => self.stream.limit(Some(left)),
        }
    }
}

impl<S: Timed> Read for Until<'_, S>
where
    for<'b> &'b S: Read,
{
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.limit()?;
        self.stream.read(bytes)
    }
}

impl<S: Timed> Write for Until<'_, S>
where
    for<'b> &'b S: Write,
{
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.limit()?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends and reads the greeting; returns the transcript that both ends' proofs are made over. `ends` are both
/// addresses. Returns an error if the other end is not a daemon of this protocol
/// and version.
pub fn greet(stream: &mut (impl Read + Write), role: LinkRole, ends: String) -> io::Result<Transcript> {
    let ours = nonce()?;
    stream.write_all(&[MAGIC.as_slice(), &ours].concat())?;
    let mut magic = [0; MAGIC.len()];
    let mut theirs = [0; NONCE];
    stream.read_exact(&mut magic)?;
    if magic != *MAGIC {
        return Err(crate::version::refused(&magic));
    }
    stream.read_exact(&mut theirs)?;
    let (asker, answerer) = if role == LinkRole::Asker { (ours, theirs) } else { (theirs, ours) };
    Ok(Transcript { asker, answerer, ends })
}

/// Reads a reducer's greeting and answers it; returns the transcript, and whether the connection is for one merge.
/// Returns an error if the other end is not a reducer of this protocol, which is told this daemon's version.
pub fn greet_reducer(stream: &mut (impl Read + Write)) -> io::Result<(Transcript, bool)> {
    let (mut magic, mut theirs, ours) = ([0; MAGIC.len()], [0; NONCE], nonce()?);
    stream.read_exact(&mut magic)?;
    let is_merge = magic == *MERGE_MAGIC;
    let answered = if is_merge { MERGE_MAGIC } else { MAGIC };
    stream.write_all(&[answered.as_slice(), &ours].concat())?;
    if magic != *answered {
        return Err(malformed(Malformed("not a reducer of this protocol")));
    }
    stream.read_exact(&mut theirs)?;
    Ok((Transcript { asker: theirs, answerer: ours, ends: String::new() }, is_merge))
}

/// A message as it arrived; its tag is not checked yet.
pub struct Received {
    pub header: MessageHeader,
    pub message: Message,
    bytes: Vec<u8>,
    tag: Option<[u8; TAG]>,
}

/// Reads one message. Returns an error for one that `accept` does not allow, or that is malformed.
pub fn receive(stream: &mut impl Read, accept: Accept) -> io::Result<Received> {
    let mut head = [0; HEADER];
    stream.read_exact(&mut head)?;
    let header = MessageHeader::decode(&head).map_err(malformed)?;
    header.check(accept).map_err(malformed)?;
    let mut bytes = vec![0; HEADER + header.length as usize];
    bytes[..HEADER].copy_from_slice(&head);
    stream.read_exact(&mut bytes[HEADER..])?;
    let tag = if header.is_tagged() {
        let mut tag = [0; TAG];
        stream.read_exact(&mut tag)?;
        Some(tag)
    } else {
        None
    };
    let message = Message::decode(header.kind, &bytes[HEADER..]).map_err(malformed)?;
    Ok(Received { header, message, bytes, tag })
}

impl Received {
    /// Checks the tag of the message. Returns an error unless this key made it for this direction and place, which is
    /// the number of tagged messages before it in that direction.
    pub fn verify(&self, session: &SessionKey, direction: Direction, place: u64) -> io::Result<()> {
        match self.tag {
            Some(tag) if is_equal(&tag, &session.tag(direction, place, &self.bytes)) => Ok(()),
            _ => Err(malformed(Malformed("a message with a wrong tag"))),
        }
    }
}

/// Returns the bytes of a message with its header before it and its tag behind it.
pub fn sealed(message: &Message, id: u64, session: &SessionKey, direction: Direction, place: u64) -> Vec<u8> {
    let mut bytes = message.encode(id, true);
    let tag = session.tag(direction, place, &bytes);
    bytes.extend(tag);
    bytes
}

pub fn malformed(error: Malformed) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Secret;
    use crate::names::JobKey;
    use crate::wire::{RefusalReason, Refused};

    #[test]
    fn no_bit_of_a_message_or_its_tag_can_be_changed() {
        let transcript = Transcript { asker: [1; NONCE], answerer: [2; NONCE], ends: String::new() };
        let session = transcript.session(&Secret::new(vec![7; 8]), JobKey { cluster: 1, number: 2 });
        let message = Message::Refused(Refused::new(RefusalReason::Gone, "a line"));
        let right = sealed(&message, 3, &session, Direction::Answered, 4);
        assert!(receive(&mut &right[..], Accept::Answers).unwrap().verify(&session, Direction::Answered, 4).is_ok());
        assert!(receive(&mut &right[..], Accept::Answers).unwrap().verify(&session, Direction::Answered, 5).is_err());
        for bit in 0..8 * right.len() {
            let mut wrong = right.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            let got = receive(&mut &wrong[..], Accept::Answers);
            let result = got.and_then(|got| got.verify(&session, Direction::Answered, 4));
            assert!(result.is_err(), "bit {bit}");
        }
    }
}
