//! When a document expires: the service's rules for time to live.
//!
//! What a document says counts only where its collection has the feature on. -1 means never.

/// When a version written at `ts` expires. `default_ttl` is the collection's, `own` what the
/// document says: 0 for nothing.
pub(crate) fn expires(default_ttl: Option<i32>, own: i32, ts: i64) -> Option<i64> {
    let seconds = match (default_ttl?, own) {
        (default, 0) => default,
        (_, own) => own,
    };
    (seconds > 0).then(|| ts.saturating_add(i64::from(seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_the_service() {
        for (default_ttl, own, expected) in [
            (None, 0, None),
            (None, 5, None),
            (None, -1, None),
            (Some(-1), 0, None),
            (Some(-1), 5, Some(105)),
            (Some(-1), -1, None),
            (Some(60), 0, Some(160)),
            (Some(60), 5, Some(105)),
            (Some(60), -1, None),
        ] {
            assert_eq!(
                expires(default_ttl, own, 100),
                expected,
                "default {default_ttl:?}, own {own}"
            );
        }
    }
}
