//! Counts the messages that either end of an RDMA connection may still send: the other end must have a buffer for
//! each when it arrives.

use std::io;
use vas_verbs::BUFFERS;

/// Messages with bytes that an end may have sent before the other end has read one.
pub const CREDITS: u32 = 8;
/// Buffers for messages that only return credits. At most `CREDITS / RETURNED` of them are on their way at once, as
/// the other end gets no more credits before it has taken them.
const SPARE: usize = 4;
/// Buffers that an end sends from.
pub const SENDS: usize = BUFFERS - CREDITS as usize - SPARE;
/// Credits that are returned by a message of their own, where no other goes that way.
const RETURNED: u32 = CREDITS / 2;

/// The credits of one end of a connection.
pub struct Flow {
    credits: u32,
    owed: u32,
}

impl Default for Flow {
    fn default() -> Flow {
        Flow { credits: CREDITS, owed: 0 }
    }
}

impl Flow {
    pub fn may_send(&self) -> bool {
        self.credits > 0
    }

    /// Notes that a message with bytes is sent; returns the credits that go with it.
    pub fn sent(&mut self) -> u32 {
        self.credits -= 1;
        std::mem::take(&mut self.owed)
    }

    /// Notes the credits that came with a message. Returns an error for more than there are.
    pub fn returned(&mut self, credits: u32) -> io::Result<()> {
        let all = self.credits.checked_add(credits).filter(|all| *all <= CREDITS);
        self.credits = all.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "more credits than there are"))?;
        Ok(())
    }

    /// Notes that a message with bytes was read whole, and its buffer is the other end's again. Returns the credits
    /// that are to be returned now, by a message of their own; None while they may wait for another message.
    pub fn consumed(&mut self) -> Option<u32> {
        self.owed += 1;
        (self.owed >= RETURNED).then(|| std::mem::take(&mut self.owed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn there_is_a_buffer_for_each_message_whatever_both_ends_do() {
        let mut random = Random::new(3);
        // Of each direction: messages with bytes, and returned credits, that are on their way.
        let mut ends = [Flow::default(), Flow::default()];
        let (mut bytes, mut alone) = ([0u32; 2], [Vec::new(), Vec::new()]);
        let mut unread = [0u32; 2];
        for _ in 0..100_000 {
            let [choice, end] = [random.bytes(1)[0] % 3, random.bytes(1)[0] % 2];
            let (here, there) = (usize::from(end), 1 - usize::from(end));
            match choice {
                0 if ends[here].may_send() => {
                    // Credits that go with bytes arrive as any others.
                    let with = ends[here].sent();
                    ends[there].returned(with).unwrap();
                    bytes[here] += 1;
                    unread[there] += 1;
                }
                1 if unread[here] > 0 => {
                    unread[here] -= 1;
                    bytes[there] -= 1;
                    alone[here].extend(ends[here].consumed());
                }
                _ => {
                    if let Some(credits) = alone[here].pop() {
                        ends[there].returned(credits).unwrap();
                    }
                }
            }
            assert!(bytes.iter().all(|count| *count <= CREDITS), "{bytes:?}");
            assert!(alone.iter().all(|sent| sent.len() <= SPARE), "{alone:?}");
        }
    }

    #[test]
    fn neither_end_waits_for_ever() {
        let mut ends = [Flow::default(), Flow::default()];
        for _ in 0..1000 {
            assert!(ends[0].may_send());
            ends[0].sent();
            if let Some(credits) = ends[1].consumed() {
                ends[0].returned(credits).unwrap();
            }
        }
    }

    #[test]
    fn credits_that_nobody_owes_are_refused() {
        assert!(Flow::default().returned(1).is_err());
        assert!(Flow::default().returned(u32::MAX).is_err());
    }
}
