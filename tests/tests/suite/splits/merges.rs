//! Ranges that are merged: no matter in latest-version mode, the end in all-versions mode (P19).

use projectionist::needs::Mode;
use projectionist_runtime::engine::Until;
use projectionist_runtime::problem::Problem;

use super::material::{Script, of};

fn merge(script: &Script, ranges: [&str; 2]) {
    script.world.things.merge(ranges).unwrap();
}

#[tokio::test]
async fn in_latest_version_mode_each_lease_reads_on_in_its_part() {
    for case in of(Mode::LatestVersion) {
        let mut script = Script::new(&case, 3).await;
        script.write(2);
        script.run().await;
        let leases = script.leases().await;
        merge(&script, ["0", "1"]);
        script.write(1);
        script.run().await;
        script.check_told().await;
        assert_eq!(script.leases().await, leases, "no lease is merged");

        let running = script.prepare(None).await.unwrap().start(Until::Stopped);
        running.caught_up().await;
        merge(&script, ["3", "2"]);
        script.write(1);
        running.caught_up().await;
        script.write(1);
        running.caught_up().await;
        assert_eq!(running.reports().len(), 3);
        running.stop();
        script.finish(running).await;
        script.check_told().await;
    }
}

/// The merged range is split where no lease ends: each lease is cut where the range is.
#[tokio::test]
async fn a_merged_range_that_is_split_elsewhere_cuts_the_leases_inside() {
    for case in of(Mode::LatestVersion) {
        let mut script = Script::new(&case, 3).await;
        script.write(1);
        script.run().await;
        merge(&script, ["0", "1"]);
        script.write(1);
        merge(&script, ["3", "2"]);
        script.run().await;
        script.split("4");
        script.write(1);
        script.run().await;
        script.check_told().await;
        assert_eq!(
            script.leases().await.len(),
            4,
            "the one in the middle is cut"
        );
    }
}

/// The message, as the user reads it.
fn told_to(problem: &Problem) {
    assert_eq!(problem.code, "ranges-merged");
    let mut text = format!("{problem}: {}", problem.help);
    let mut source = std::error::Error::source(problem);
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    for part in [
        "`versions`",
        "`things`",
        "merge",
        "new name",
        "latest-version mode",
        "Nothing was skipped",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test]
async fn in_all_versions_mode_a_merge_while_nobody_runs_is_terminal() {
    for case in of(Mode::AllVersionsAndDeletes) {
        let mut script = Script::new(&case, 2).await;
        script.write(1);
        script.run().await;
        merge(&script, ["0", "1"]);
        script.write(1);
        let standing = script.world.store.checkpoints().await.unwrap();
        for _ in 0..2 {
            let problems = script.prepare(None).await.unwrap_err().0;
            assert_eq!(problems.len(), 1, "{problems:?}");
            told_to(&problems[0]);
        }
        assert_eq!(script.world.store.checkpoints().await.unwrap(), standing);
    }
}

/// Also where a split hides it: the ranges look as before, but history ended between.
#[tokio::test]
async fn in_all_versions_mode_a_merge_that_was_split_again_is_terminal() {
    for case in of(Mode::AllVersionsAndDeletes) {
        let mut script = Script::new(&case, 2).await;
        let before = script.leases().await;
        merge(&script, ["0", "1"]);
        script.split("2");
        script.write(1);
        let running = script.prepare(None).await.unwrap().start(Until::Stopped);
        let failed = running.finished().await.failed;
        // One range that ends ends the projection, maybe before the other came to read.
        assert!(!failed.is_empty());
        failed.iter().for_each(told_to);
        assert_eq!(script.leases().await, before);
    }
}

#[tokio::test]
async fn in_all_versions_mode_a_merge_under_running_pumps_is_terminal() {
    for case in of(Mode::AllVersionsAndDeletes) {
        let mut script = Script::new(&case, 2).await;
        let running = script.prepare(None).await.unwrap().start(Until::Stopped);
        running.caught_up().await;
        script.write(1);
        running.caught_up().await;
        merge(&script, ["0", "1"]);
        // What ends one range ends the projection, so that it ends by itself.
        let summary = running.finished().await;
        assert!(!summary.failed.is_empty());
        summary.failed.iter().for_each(told_to);
        assert_eq!(summary.applied, 24);
    }
}
