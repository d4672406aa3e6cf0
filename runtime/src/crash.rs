//! Points at which the crash test kills the process, as `kill -9` would.
//!
//! `PROJECTIONIST_CRASH=before-commit:3` kills it at the third commit. Without the feature `crash-points` nothing of this is compiled in.

/// Ends the process if this is the moment that the environment names.
#[cfg(feature = "crash-points")]
pub(crate) fn point(name: &str) {
    armed::point(name);
}

/// Nothing: this build has no crash points.
#[cfg(not(feature = "crash-points"))]
pub(crate) const fn point(_name: &str) {}

#[cfg(feature = "crash-points")]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// The variable that arms a point.
    const VARIABLE: &str = "PROJECTIONIST_CRASH";

    struct Plan {
        point: String,
        passes: AtomicU64,
        last: u64,
    }

    static PLAN: OnceLock<Option<Plan>> = OnceLock::new();

    pub(super) fn point(name: &str) {
        let plan = PLAN.get_or_init(|| std::env::var(VARIABLE).ok().as_deref().and_then(parse));
        if let Some(plan) = plan
            && plan.point == name
            && plan.passes.fetch_add(1, Ordering::SeqCst) + 1 == plan.last
        {
            eprintln!("crash point {name}: dying at pass {}", plan.last);
            die();
        }
    }

    /// SIGKILL, which neither destructors nor handlers survive. This thread goes no further, whether the
    /// signal comes at once or in a moment.
    fn die() -> ! {
        let kill = format!("kill -9 {}", std::process::id());
        let sent = std::process::Command::new("sh")
            .args(["-c", &kill])
            .status();
        eprintln!("crash point: the kill was not deadly: {sent:?}");
        std::process::abort()
    }

    fn parse(text: &str) -> Option<Plan> {
        let (point, last) = text.rsplit_once(':')?;
        Some(Plan {
            point: point.to_owned(),
            passes: AtomicU64::new(0),
            last: last.parse().ok().filter(|last| *last > 0)?,
        })
    }

    #[cfg(test)]
    mod tests {
        use super::parse;

        #[test]
        fn a_plan_names_a_point_and_a_pass() {
            let plan = parse("before-commit:12").unwrap();
            assert_eq!((plan.point.as_str(), plan.last), ("before-commit", 12));
            assert!(parse("before-commit").is_none());
            assert!(parse("before-commit:0").is_none());
            assert!(parse("before-commit:x").is_none());
        }
    }
}
