use super::*;
use crate::random::Random;

fn any(random: &mut Random) -> Message {
    let job = JobKey { cluster: random.next(), number: random.next() as u32 };
    let map = MapAttemptId { job, map: random.next() as u32, attempt: random.next() as u32 };
    match random.below(8) {
        0 => Message::Auth { job, mac: random.bytes(MAC).try_into().unwrap() },
        1 => Message::Authenticated { mac: random.bytes(MAC).try_into().unwrap() },
        2 => Message::Data { length: random.below(u64::from(LARGEST_READ) + 1) as u32 },
        7 => Message::Working,
        3 => Message::Refused(Refused::new(RefusalReason::Damaged, "x".repeat(random.below(400) as usize))),
        4 => {
            let count = random.below(2000) as usize;
            let held = random.bytes(count);
            let stored_bytes = if held.is_empty() { random.below(1 << 24) + 1 } else { held.len() as u64 };
            let checksums = (0..stored_bytes.div_ceil(CHECKSUM_BYTES)).map(|_| random.next() as u32).collect();
            Message::Looked(LookAnswer { stored_bytes, raw_bytes: random.next(), checksums, held })
        }
        number => {
            let ask = if number == 5 {
                Ask::Look { hold: random.below(u64::from(LARGEST_HELD)) as u32, verify: random.below(2) == 1, sealed: random.below(2) == 1 }
            } else {
                Ask::Read { offset: random.next(), length: random.below(u64::from(LARGEST_READ)) as u32 }
            };
            let host = if random.below(2) == 0 { String::new() } else { "node-7.example".to_owned() };
            Message::Ask(Request { map, partition: random.next() as u32, ask, host })
        }
    }
}

fn split(bytes: &[u8]) -> Result<Message, Malformed> {
    let header = MessageHeader::decode(bytes[..HEADER].try_into().unwrap())?;
    if bytes.len() != HEADER + header.length as usize {
        return Err(Malformed("another length"));
    }
    Message::decode(header.kind, &bytes[HEADER..])
}

#[test]
fn every_message_is_read_back() {
    let mut random = Random::new(2);
    for id in 0..20_000 {
        let message = any(&mut random);
        let bytes = message.encode(id, id % 2 == 0);
        let header = MessageHeader::decode(bytes[..HEADER].try_into().unwrap()).unwrap();
        assert_eq!((header.id, header.is_tagged()), (id, id % 2 == 0));
        assert_eq!(split(&bytes), Ok(message));
    }
}

#[test]
fn no_bytes_make_the_parser_fail_otherwise_than_by_saying_so() {
    let mut random = Random::new(3);
    for _ in 0..50_000 {
        let mut bytes = any(&mut random).encode(1, false);
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] = random.next() as u8;
        }
        let kept = HEADER.max(random.below(bytes.len() as u64 + 1) as usize);
        bytes.truncate(kept);
        if let Ok(message) = split(&bytes) {
            // What was understood is what would be said: no two encodings of one message.
            let again = message.encode(1, false);
            assert!(matches!(message, Message::Refused(_)) || again[HEADER..] == bytes[HEADER..]);
        }
    }
}

#[test]
fn random_bytes_are_bounded() {
    let mut random = Random::new(4);
    for _ in 0..50_000 {
        let bytes = random.bytes(HEADER);
        if let Ok(header) = MessageHeader::decode(bytes[..].try_into().unwrap()) {
            assert!(header.length as usize <= LARGEST_ANSWER);
        }
        let count = random.below(200) as usize;
        let body = random.bytes(count);
        let _ = Message::decode(random.below(9) as u8, &body);
    }
}

#[test]
fn a_message_that_does_not_belong_is_refused_by_its_header() {
    let looked = LookAnswer { stored_bytes: 128 << 10, raw_bytes: 9, checksums: vec![1, 2], held: vec![0; 128 << 10] };
    let header = |message: Message| {
        MessageHeader::decode(message.encode(1, false)[..HEADER].try_into().unwrap()).unwrap()
    };
    let (large, proof) = (header(Message::Looked(looked)), header(Message::Authenticated { mac: [0; MAC] }));
    let auth = header(Message::Auth { job: JobKey { cluster: 1, number: 1 }, mac: [0; MAC] });
    assert!(large.check(Accept::Requests).is_err() && large.check(Accept::SmallAnswers).is_err());
    assert!(large.check(Accept::Answers).is_ok() && proof.check(Accept::SmallAnswers).is_ok());
    assert!(auth.check(Accept::Requests).is_ok() && auth.check(Accept::Answers).is_err());
}

#[test]
fn a_request_cannot_name_a_path_as_its_host() {
    let map = MapAttemptId { job: JobKey { cluster: 1, number: 1 }, map: 0, attempt: 0 };
    for host in ["../etc", "a/b", "a b", "a\0b"] {
        let ask = Ask::Read { offset: 0, length: 1 };
        let bytes = Message::Ask(Request { map, partition: 0, ask, host: host.to_owned() }).encode(1, false);
        assert!(split(&bytes).is_err(), "{host:?}");
    }
}
