//! Cosmos DB's version 2 hash: where in the key space a partition key lies.
//!
//! Each of a key's components is written in a tagged binary form, hashed with 128-bit `MurmurHash3` and
//! masked to `00..3F` in the first byte; a hierarchical key is the row of its components' hashes. Checked against vectors of an independent client.

use std::fmt::Write as _;

/// The levels that a hierarchical partition key can have.
pub(crate) const LEVELS: usize = 3;
/// Hexadecimal digits of one level.
const DIGITS: usize = 32;

/// A place in the key space: the effective partition key as numbers, one a level, so that order is order of
/// the hexadecimal text that the service shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Epk([u128; LEVELS]);

impl Epk {
    /// Bytes of one in the journal.
    pub(crate) const SIZE: usize = 16 * LEVELS;
    /// Where the last range ends.
    #[cfg(test)]
    pub(crate) const END: Self = Self([0xFF << 120, 0, 0]);

    /// The place of a key, from its components in their binary form, outermost first.
    pub(crate) fn of<'a>(components: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut levels = [0; LEVELS];
        for (level, component) in levels.iter_mut().zip(components) {
            *level = murmur3(component) & (u128::MAX >> 2);
        }
        Self(levels)
    }

    /// A bound as the service writes it: hexadecimal, short ones meant to be filled up with zeros. None if it is no
    /// such text.
    pub(crate) fn bound(text: &str) -> Option<Self> {
        if text.len() > DIGITS * LEVELS || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut levels = [0; LEVELS];
        for (level, digits) in levels.iter_mut().zip(text.as_bytes().chunks(DIGITS)) {
            let filled = 4 * (DIGITS - digits.len());
            let value = u128::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            *level = value << filled;
        }
        Some(Self(levels))
    }

    /// The first place behind all keys that begin with this one's first `levels` components.
    pub(crate) fn behind(self, levels: usize) -> Self {
        let mut next = [0; LEVELS];
        next[..levels].copy_from_slice(&self.0[..levels]);
        if let Some(last) = next[..levels].last_mut() {
            // Hashes are below 0x40 in their first byte: adding one carries nothing.
            *last += 1;
        }
        Self(next)
    }

    /// The place that divides `[self, max)` in two even parts. None if they would not be even by the first level.
    pub(crate) fn middle(self, max: Self) -> Option<Self> {
        // Hashes are masked below 0x40 in their first byte: nothing lies behind that.
        let [from, to] = [self.0[0], max.0[0].min(0x40 << 120)];
        let middle = from + to.checked_sub(from)? / 2;
        (middle > from).then_some(Self([middle, 0, 0]))
    }

    /// The hexadecimal text, with so many levels.
    pub(crate) fn hex(self, levels: usize) -> String {
        let mut text = String::with_capacity(DIGITS * levels);
        for level in &self.0[..levels] {
            // Writing to a string cannot fail.
            let _ = write!(text, "{level:032X}");
        }
        text
    }

    pub(crate) fn to_bytes(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        for (level, bytes) in self.0.iter().zip(bytes.chunks_exact_mut(16)) {
            bytes.copy_from_slice(&level.to_le_bytes());
        }
        bytes
    }

    pub(crate) fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        let mut levels = [0; LEVELS];
        for (level, bytes) in levels.iter_mut().zip(bytes.chunks_exact(16)) {
            *level = u128::from_le_bytes(bytes.try_into().expect("sixteen bytes are sixteen"));
        }
        Self(levels)
    }
}

/// 128-bit `MurmurHash3` for 64-bit machines, seed 0, the second half in the upper bits.
pub(crate) fn murmur3(bytes: &[u8]) -> u128 {
    const C1: u64 = 0x87c3_7b91_1142_53d5;
    const C2: u64 = 0x4cf5_ad43_2745_937f;
    let scatter1 = |k: u64| k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
    let scatter2 = |k: u64| k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);

    let (mut h1, mut h2) = (0_u64, 0_u64);
    let blocks = bytes.chunks_exact(16);
    let tail = blocks.remainder();
    for block in blocks {
        h1 ^= scatter1(word(&block[..8]));
        h1 = h1.rotate_left(27).wrapping_add(h2);
        h1 = h1.wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= scatter2(word(&block[8..]));
        h2 = h2.rotate_left(31).wrapping_add(h1);
        h2 = h2.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let (low, high) = tail.split_at(tail.len().min(8));
    h2 ^= scatter2(word(high));
    h1 ^= scatter1(word(low));

    let length = bytes.len() as u64;
    h1 ^= length;
    h2 ^= length;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = finish(h1);
    h2 = finish(h2);
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    (u128::from(h2) << 64) | u128::from(h1)
}

fn word(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |word, byte| (word << 8) | u64::from(*byte))
}

fn finish(mut k: u64) -> u64 {
    k ^= k >> 33;
    k = k.wrapping_mul(0xff51_afd7_ed55_8ccd);
    k ^= k >> 33;
    k = k.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ (k >> 33)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::key::PartitionKey;

    #[derive(Deserialize)]
    struct Vector {
        json: String,
        epk: String,
    }

    #[test]
    fn agrees_with_an_independent_client() {
        let vectors: Vec<Vector> = serde_json::from_str(include_str!("hash/vectors.json")).unwrap();
        assert!(vectors.len() >= 40, "{} vectors", vectors.len());
        for Vector { json, epk } in vectors {
            let key = PartitionKey::from_json(&json).unwrap();
            assert_eq!(key.epk().hex(key.levels()), epk, "{json}");
        }
    }

    #[test]
    fn bounds_order_as_their_text() {
        let bound = Epk::bound;
        assert_eq!(bound(""), Some(Epk::default()));
        assert_eq!(bound("FF"), Some(Epk::END));
        assert_eq!(bound("20"), Some(Epk([0x20 << 120, 0, 0])));
        assert_eq!(bound(&format!("{:032X}", 77)), Some(Epk([77, 0, 0])));
        assert_eq!(
            bound(&format!("{:032X}FF", 77)),
            Some(Epk([77, 0xFF << 120, 0]))
        );
        assert_eq!(bound("+1"), None);
        assert_eq!(bound("xyz"), None);
        assert_eq!(bound(&"0".repeat(97)), None);
    }

    #[test]
    fn a_prefix_holds_all_that_begins_with_it() {
        let key = |text: &str| PartitionKey::from_json(text).unwrap().epk();
        let prefix = key(r#"["tenant"]"#);
        for inside in [r#"["tenant","a"]"#, r#"["tenant","b",3]"#, r#"["tenant"]"#] {
            assert!(
                (prefix..prefix.behind(1)).contains(&key(inside)),
                "{inside}"
            );
        }
        assert!(!(prefix..prefix.behind(1)).contains(&key(r#"["other","a"]"#)));
        assert_eq!(Epk::from_bytes(prefix.to_bytes()), prefix);
    }

    #[test]
    fn the_middle_is_in_between() {
        let (min, max) = (Epk::default(), Epk::END);
        let middle = min.middle(max).unwrap();
        assert_eq!(middle, Epk::bound("20").unwrap());
        assert!(min < middle.middle(max).unwrap());
        assert_eq!(Epk([5, 0, 0]).middle(Epk([6, 0, 0])), None);
    }
}
