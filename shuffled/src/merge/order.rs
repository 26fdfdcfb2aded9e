//! Orders serialised keys as Hadoop's raw comparators of five key classes do. Pure.

/// The key classes whose order is known, each with the comparator that it registers itself. The numbers are those of
/// the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum WritableOrder {
    /// `Text`: a variable-length int, then bytes that are compared without a sign, the shorter key first.
    Text = 1,
    /// `BytesWritable`: four bytes, then as `Text`.
    Bytes = 2,
    /// `IntWritable`: four bytes with a sign.
    Int = 3,
    /// `LongWritable`: eight bytes with a sign.
    Long = 4,
    /// `NullWritable`: no bytes; all are equal.
    Null = 5,
}

/// Bytes of content that a prefix of `Text` or `BytesWritable` holds.
const CONTENT: usize = 7;

impl WritableOrder {
    pub fn of(number: u8) -> Option<WritableOrder> {
        use WritableOrder::*;
        [Text, Bytes, Int, Long, Null].into_iter().find(|order| *order as u8 == number)
    }

    /// Returns whether these bytes are long enough to be a key of this class; the functions below take no others.
    pub fn may_be(self, key: &[u8]) -> bool {
        match self {
            WritableOrder::Text => key.first().is_some_and(|first| vint_size(*first) <= key.len()),
            WritableOrder::Bytes | WritableOrder::Int => key.len() >= 4,
            WritableOrder::Long => key.len() >= 8,
            WritableOrder::Null => true,
        }
    }

    /// Returns a number of the key: of two keys with different numbers, the key with the smaller one comes first.
    pub fn prefix(self, key: &[u8]) -> u64 {
        match self {
            WritableOrder::Text | WritableOrder::Bytes => {
                let content = &key[self.header(key)..];
                first_eight(content) & !0xff | content.len().min(CONTENT + 1) as u64
            }
            WritableOrder::Int => (first_eight(&key[..4]) >> 32 ^ 1 << 31) << 32,
            WritableOrder::Long => first_eight(key) ^ 1 << 63,
            WritableOrder::Null => 0,
        }
    }

    /// Returns whether all keys with this prefix are equal.
    pub fn decides(self, prefix: u64) -> bool {
        match self {
            WritableOrder::Text | WritableOrder::Bytes => prefix & 0xff <= CONTENT as u64,
            WritableOrder::Int | WritableOrder::Long | WritableOrder::Null => true,
        }
    }

    /// Returns the part of a key that orders keys of one prefix, where that does not decide.
    pub fn content(self, key: &[u8]) -> &[u8] {
        match self {
            WritableOrder::Text | WritableOrder::Bytes => &key[self.header(key)..],
            WritableOrder::Int | WritableOrder::Long | WritableOrder::Null => &[],
        }
    }

    fn header(self, key: &[u8]) -> usize {
        if self == WritableOrder::Text { vint_size(key[0]) } else { 4 }
    }
}

/// Returns the bytes of the variable-length int, as Hadoop writes it, that begins with this byte.
pub fn vint_size(first: u8) -> usize {
    match first as i8 {
        -112..=127 => 1,
        first @ -120..=-113 => 1 + (-112 - i32::from(first)) as usize,
        first => 1 + (-120 - i32::from(first)) as usize,
    }
}

fn first_eight(bytes: &[u8]) -> u64 {
    if let Some(first) = bytes.first_chunk::<8>() {
        return u64::from_be_bytes(*first);
    }
    let mut padded = [0; 8];
    padded[..bytes.len()].copy_from_slice(bytes);
    u64::from_be_bytes(padded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::testing::ifile::{key, CLASSES};
    use std::cmp::Ordering;

    /// Compares as the Javadoc of Hadoop's comparators says, and without prefixes.
    fn plainly(order: WritableOrder, left: &[u8], right: &[u8]) -> Ordering {
        let int = |key: &[u8]| i32::from_be_bytes(key[..4].try_into().unwrap());
        let long = |key: &[u8]| i64::from_be_bytes(key[..8].try_into().unwrap());
        match order {
            WritableOrder::Text => left[vint_size(left[0])..].cmp(&right[vint_size(right[0])..]),
            WritableOrder::Bytes => left[4..].cmp(&right[4..]),
            WritableOrder::Int => int(left).cmp(&int(right)),
            WritableOrder::Long => long(left).cmp(&long(right)),
            WritableOrder::Null => Ordering::Equal,
        }
    }

    #[test]
    fn prefixes_and_contents_order_as_hadoop_does() {
        let mut random = Random::new(21);
        for _ in 0..50_000 {
            let order = CLASSES[random.below(5) as usize];
            let (left, right) = (key(order, &mut random), key(order, &mut random));
            assert!(order.may_be(&left) && order.may_be(&right));
            let prefixes = order.prefix(&left).cmp(&order.prefix(&right));
            let tied = prefixes == Ordering::Equal && !order.decides(order.prefix(&left));
            let got = if tied { order.content(&left).cmp(order.content(&right)) } else { prefixes };
            assert_eq!(got, plainly(order, &left, &right), "{order:?} {left:?} {right:?}");
        }
    }

    #[test]
    fn signs_zeros_and_lengths_count() {
        let ordered = |order: WritableOrder, keys: &[&[u8]]| {
            assert!(keys.windows(2).all(|pair| order.prefix(pair[0]) < order.prefix(pair[1])), "{order:?}");
        };
        ordered(WritableOrder::Int, &[&[0x80, 0, 0, 0], &[255; 4], &[0; 4], &[0, 0, 0, 1], &[0x7f, 255, 255, 255]]);
        ordered(WritableOrder::Long, &[&[0x80, 0, 0, 0, 0, 0, 0, 0], &[255; 8], &[0; 8], &[0x7f; 8]]);
        ordered(WritableOrder::Text, &[&[0], &[1, 0], &[2, 0, 0], &[1, b'a'], &[2, b'a', 0], &[1, 0x80], &[1, 0xff]]);
        ordered(WritableOrder::Bytes, &[&[0; 4], &[0, 0, 0, 1, 0], &[0, 0, 0, 1, 200]]);
    }

    #[test]
    fn whatever_is_no_key_is_seen_before_it_is_compared() {
        for order in CLASSES {
            assert_eq!(WritableOrder::of(order as u8), Some(order));
            assert_eq!(order.may_be(&[]), order == WritableOrder::Null);
        }
        assert!(!WritableOrder::Text.may_be(&[0x8f]) && !WritableOrder::Int.may_be(&[1; 3]) && !WritableOrder::Long.may_be(&[1; 7]));
        assert!(WritableOrder::of(0).is_none() && WritableOrder::of(6).is_none());
    }
}
