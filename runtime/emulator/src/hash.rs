//! Cosmos DB's version 2 hash: where in the key space a partition key lies.
//!
//! A key's components are written in a tagged binary form, hashed with 128-bit `MurmurHash3` and
//! masked to `00..3F` in the first byte. Checked against vectors of an independent client.

/// A place in the key space: the effective partition key as a number, so that order is order of
/// the hexadecimal text that the service shows.
pub(crate) type Epk = u128;

/// The effective partition key of components already in their binary form.
pub(crate) fn epk(components: &[u8]) -> Epk {
    murmur3(components) & (u128::MAX >> 2)
}

/// The bound of a range as the service writes it: hexadecimal, short ones meant to be filled up
/// with zeros. None if it is no such text.
pub(crate) fn bound(text: &str) -> Option<Epk> {
    if text.is_empty() {
        return Some(0);
    }
    let digits = u32::try_from(text.len()).ok().filter(|n| *n <= 32)?;
    if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let value = u128::from_str_radix(text, 16).ok()?;
    Some(value << (4 * (32 - digits)))
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
            assert_eq!(format!("{:032X}", key.epk()), epk, "{json}");
        }
    }

    #[test]
    fn bounds_order_as_their_text() {
        assert_eq!(bound(""), Some(0));
        assert_eq!(bound("FF"), Some(0xFF << 120));
        assert_eq!(bound("20"), Some(0x20 << 120));
        assert_eq!(bound(&format!("{:032X}", 77)), Some(77));
        assert_eq!(bound("+1"), None);
        assert_eq!(bound("xyz"), None);
        assert_eq!(bound(&"0".repeat(33)), None);
    }
}
