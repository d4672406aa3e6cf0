//! How a collection is set up, and what of it may change later.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::hash::{Epk, LEVELS};

/// How a collection is set up.
///
/// Partition key and the number of ranges that it was made with stand for the life of the collection; the
/// rest may be changed by creating it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionConfig {
    /// The paths of the partition key, one or, of a hierarchical key, up to three: `/customerId`, or nested,
    /// `/address/country`.
    pub partition_key: Vec<String>,
    /// The number of physical ranges that it is made with.
    pub ranges: u32,
    /// The time to live in seconds of documents that do not say. -1 turns the feature on without
    /// a default; none turns it off, and what a document says is then ignored.
    pub default_ttl: Option<i32>,
    /// For how long the all-versions feed reaches back. None or zero: there is no such feed.
    pub retention: Option<Duration>,
    /// Whether that feed carries the version before a change.
    pub previous_images: bool,
}

impl CollectionConfig {
    /// One range, no time to live, no retention window.
    pub fn new(partition_key: impl Into<String>) -> Self {
        Self::hierarchical([partition_key.into()])
    }

    /// The same, with a partition key of several paths, the outermost first.
    pub fn hierarchical(paths: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            partition_key: paths.into_iter().map(Into::into).collect(),
            ranges: 1,
            default_ttl: None,
            retention: None,
            previous_images: false,
        }
    }

    /// With that many ranges.
    #[must_use]
    pub fn ranges(mut self, ranges: u32) -> Self {
        self.ranges = ranges;
        self
    }

    /// With time to live.
    #[must_use]
    pub fn default_ttl(mut self, seconds: i32) -> Self {
        self.default_ttl = Some(seconds);
        self
    }

    /// With a retention window.
    #[must_use]
    pub fn retention(mut self, window: Duration) -> Self {
        self.retention = Some(window);
        self
    }

    /// With previous images.
    #[must_use]
    pub fn previous_images(mut self) -> Self {
        self.previous_images = true;
        self
    }

    /// The retention window in whole seconds. None where there is no all-versions feed.
    pub(crate) fn window(&self) -> Option<i64> {
        let seconds = self.retention?.as_secs();
        (seconds > 0).then(|| i64::try_from(seconds).unwrap_or(i64::MAX))
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let paths = &self.partition_key;
        if !(1..=LEVELS).contains(&paths.len()) {
            return Err(format!(
                "a partition key has 1 to {LEVELS} paths, not {}",
                paths.len()
            ));
        }
        for (path, names) in paths.iter().zip(self.segments()) {
            if !path.starts_with('/') || names.iter().any(|name| name.is_empty()) {
                return Err(format!(
                    "the partition key path \"{path}\" must look like \"/customerId\" or \"/address/country\""
                ));
            }
        }
        if (1..paths.len()).any(|at| paths[..at].contains(&paths[at])) {
            return Err(format!(
                "a partition key path stands twice in {}",
                paths.join(", ")
            ));
        }
        if !(1..=4096).contains(&self.ranges) {
            return Err(format!(
                "{} ranges were asked for, 1 to 4096 are possible",
                self.ranges
            ));
        }
        if self.default_ttl.is_some_and(|ttl| ttl == 0 || ttl < -1) {
            return Err("the default time to live must be -1 or at least 1 second".to_owned());
        }
        Ok(())
    }

    /// The field names of each path.
    pub(crate) fn segments(&self) -> Vec<Vec<&str>> {
        self.partition_key
            .iter()
            .map(|path| path.split('/').skip(1).collect())
            .collect()
    }
}

/// One physical range of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// Its id, as the service counts: `0`, `1`, …
    pub id: String,
    /// Where it begins, in hexadecimal, inclusive. The first begins at the empty text.
    pub min: String,
    /// Where it ends, exclusive. The last ends at `FF`.
    pub max: String,
    /// The ids of the ranges that it came from by splits and merges, the eldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<String>,
}

impl Range {
    /// The even division of the key space that a new collection starts with.
    pub(crate) fn divide(ranges: u32) -> Vec<Self> {
        // Hashes are masked below 0x40 in their first byte, so that is the space to divide; up to
        // 64 ranges the bounds are whole first bytes, as the service's are.
        let bound = |at: u32| match at {
            0 => String::new(),
            _ if at == ranges => "FF".to_owned(),
            _ if ranges <= 64 => format!("{:02X}{}", 0x40 * at / ranges, "0".repeat(30)),
            _ => format!("{:04X}{}", 0x4000 * at / ranges, "0".repeat(28)),
        };
        (0..ranges)
            .map(|at| Self {
                id: at.to_string(),
                min: bound(at),
                max: bound(at + 1),
                parents: Vec::new(),
            })
            .collect()
    }

    pub(crate) fn bounds(&self) -> (Epk, Epk) {
        let bound = |text| Epk::bound(text).expect("bounds of ranges are hexadecimal");
        (bound(&self.min), bound(&self.max))
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "range {} [{}, {})", self.id, self.min, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divides_as_the_service_does() {
        let bounds = |ranges| -> Vec<(String, String)> {
            Range::divide(ranges)
                .into_iter()
                .map(|range| (range.min, range.max))
                .collect()
        };
        assert_eq!(bounds(1), [(String::new(), "FF".to_owned())]);
        let third = format!("15{}", "0".repeat(30));
        let second = format!("2A{}", "0".repeat(30));
        assert_eq!(
            bounds(3),
            [
                (String::new(), third.clone()),
                (third, second.clone()),
                (second, "FF".to_owned()),
            ]
        );
        for ranges in [64, 65, 4096] {
            let all = Range::divide(ranges);
            for pair in all.windows(2) {
                assert_eq!(pair[0].max, pair[1].min);
                assert!(pair[0].bounds().0 < pair[0].bounds().1);
            }
        }
    }

    #[test]
    fn refuses_what_cannot_be_set_up() {
        for config in [
            CollectionConfig::new("customerId"),
            CollectionConfig::new("/"),
            CollectionConfig::new("/a//b"),
            CollectionConfig::hierarchical(["/a", "/b", "/c", "/d"]),
            CollectionConfig::hierarchical(["/a", "/a"]),
            CollectionConfig::hierarchical(Vec::<String>::new()),
            CollectionConfig::new("/a").ranges(0),
            CollectionConfig::new("/a").default_ttl(0),
            CollectionConfig::new("/a").default_ttl(-2),
        ] {
            assert!(config.check().is_err(), "{config:?}");
        }
        assert_eq!(CollectionConfig::new("/a/b").check(), Ok(()));
    }
}
