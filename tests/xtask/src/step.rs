//! A list of steps: each is announced and timed, and the summary names what failed and what was not run.
//!
//! With `CI=true` what was not run is a failure: a check that silently stays away is worse than none.

use std::io;
use std::time::Instant;

/// One step of a chore.
pub(crate) struct Step {
    /// What it is called in the summary.
    pub(crate) name: &'static str,
    /// Does it.
    pub(crate) run: fn() -> io::Result<Outcome>,
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It ran; so many tests passed and failed, and `succeeded` says whether the program itself did.
    Ran {
        passed: usize,
        failed: usize,
        succeeded: bool,
    },
    /// Something that it needs is not here.
    NotRun(String),
}

impl Outcome {
    /// A step that is one check.
    pub(crate) const fn check(succeeded: bool) -> Self {
        Self::Ran {
            passed: succeeded as usize,
            failed: !succeeded as usize,
            succeeded,
        }
    }
}

/// Runs all steps, also after a failure, and prints the summary. Says whether all is well.
#[expect(
    clippy::disallowed_methods,
    reason = "chores are timed by the machine's clock"
)]
pub(crate) fn run(steps: &[&Step], strict: bool) -> bool {
    let mut summary = Summary::default();
    for (index, step) in steps.iter().enumerate() {
        println!("\n=== {}/{} {}", index + 1, steps.len(), step.name);
        let began = Instant::now();
        let outcome = (step.run)();
        println!(
            "--- {} took {:.1} s",
            step.name,
            began.elapsed().as_secs_f64()
        );
        summary.add(step.name, outcome);
    }
    print!("{}", summary.text(strict));
    summary.good(strict)
}

#[derive(Debug, Default)]
struct Summary {
    passed: usize,
    failed: usize,
    bad: Vec<String>,
    not_run: Vec<String>,
}

impl Summary {
    fn add(&mut self, name: &str, outcome: io::Result<Outcome>) {
        match outcome {
            Ok(Outcome::Ran {
                passed,
                failed,
                succeeded,
            }) => {
                self.passed += passed;
                self.failed += failed;
                if failed > 0 {
                    self.bad.push(format!("{name}: {failed} failed"));
                } else if !succeeded {
                    self.failed += 1;
                    self.bad.push(format!("{name}: it did not come to its end"));
                }
            }
            Ok(Outcome::NotRun(why)) => self.not_run.push(format!("{name}: {why}")),
            Err(error) => {
                self.failed += 1;
                self.bad.push(format!("{name}: {error}"));
            }
        }
    }

    fn good(&self, strict: bool) -> bool {
        self.failed == 0 && self.passed > 0 && (self.not_run.is_empty() || !strict)
    }

    /// The last line is the count: machines read it.
    fn text(&self, strict: bool) -> String {
        let mut lines = Vec::new();
        for (title, list) in [("failed", &self.bad), ("not run", &self.not_run)] {
            if !list.is_empty() {
                lines.push(format!("\n{title}:"));
                lines.extend(list.iter().map(|line| format!("  {line}")));
            }
        }
        if strict && !self.not_run.is_empty() {
            lines.push("\nCI=true: what was not run is a failure".into());
        }
        let not_run = if strict { self.not_run.len() } else { 0 };
        let failed = self.failed + not_run;
        lines.push(format!("\n{} passed, {failed} failed\n", self.passed));
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(passed: usize, failed: usize) -> Outcome {
        Outcome::Ran {
            passed,
            failed,
            succeeded: failed == 0,
        }
    }

    #[test]
    fn counts_and_names() {
        let mut summary = Summary::default();
        summary.add("rust", Ok(ran(7, 0)));
        summary.add("python", Ok(ran(2, 1)));
        summary.add("java", Err(io::Error::other("no such thing")));
        assert!(!summary.good(false));
        let text = summary.text(false);
        assert!(
            text.contains("  python: 1 failed\n  java: no such thing\n"),
            "{text}"
        );
        assert!(text.ends_with("\n9 passed, 2 failed\n"), "{text}");
    }

    #[test]
    fn what_was_not_run_fails_only_a_strict_run() {
        let mut summary = Summary::default();
        summary.add("rust", Ok(ran(7, 0)));
        summary.add("python", Ok(Outcome::NotRun("no python3".into())));
        assert!(summary.good(false));
        assert!(summary.text(false).ends_with("\n7 passed, 0 failed\n"));
        assert!(!summary.good(true));
        assert!(summary.text(true).ends_with("\n7 passed, 1 failed\n"));
    }

    #[test]
    fn a_program_that_breaks_off_is_a_failure() {
        let mut summary = Summary::default();
        summary.add(
            "rust",
            Ok(Outcome::Ran {
                passed: 3,
                failed: 0,
                succeeded: false,
            }),
        );
        assert!(!summary.good(false));
        assert!(summary.text(false).contains("did not come to its end"));
    }

    #[test]
    fn nothing_at_all_is_no_success() {
        assert!(!Summary::default().good(false));
    }
}
