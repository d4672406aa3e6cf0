//! Ranges that are split and merged under projections, end to end: on both stores, in both modes (P13, P19).
//!
//! What hooks were told is compared with what was written: each change once, in the order of its key (I4). On SQLite it
//! stands in a table written through `Tx`, beside a counter.

mod material;
mod merges;

use projectionist::projection::Start;
use projectionist_runtime::engine::Until;

use self::material::{Script, all};

const TO_THE_END: Until = Until::EndOfFeed { attempts: 1 };

#[tokio::test]
async fn ranges_are_split_while_nobody_runs() {
    for case in all() {
        let mut script = Script::new(&case, 2).await;
        script.write(3);
        script.run().await;
        script.split("0");
        script.write(2);
        script.split("1");
        script.run().await;
        script.write(2);
        script.run().await;
        script.check(4).await;
    }
}

#[tokio::test]
async fn ranges_are_split_before_their_first_read() {
    for case in all() {
        let mut script = Script::new(&case, 2).await;
        if case.begins_at_the_beginning() {
            script.write(2);
        }
        let ready = script.prepare(None).await.unwrap();
        script.split("0");
        script.write(3);
        script.split("1");
        script.write(1);
        script.finish(ready.start(TO_THE_END)).await;
        script.check(4).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ranges_are_split_during_a_batch() {
    for case in all() {
        let mut script = Script::new(&case, 2).await;
        script.run().await;
        script.write(2);
        script.gate.close();
        let running = script.prepare(None).await.unwrap().start(Until::Stopped);
        script.gate.entered().await;
        script.split("0");
        script.split("1");
        script.write(2);
        script.gate.open();
        running.caught_up().await;
        let reports = running.reports();
        assert_eq!(reports.len(), 4, "{}: {reports:#?}", case.name());
        script.write(1);
        running.caught_up().await;
        running.stop();
        script.finish(running).await;
        script.check(4).await;
    }
}

#[tokio::test]
async fn ranges_are_split_twice_in_a_row() {
    for case in all() {
        let mut script = Script::new(&case, 1).await;
        script.write(2);
        script.run().await;
        script.split("0");
        script.split("1");
        script.write(1);
        script.split("2");
        script.write(1);
        script.run().await;
        script.check(4).await;
    }
}

/// Idle pumps find out by themselves, and every child is a pump that is waited for.
#[tokio::test]
async fn ranges_are_split_again_and_again_under_idle_pumps() {
    for case in all() {
        let mut script = Script::new(&case, 1).await;
        let running = script.prepare(None).await.unwrap().start(Until::Stopped);
        running.caught_up().await;
        for (turn, id) in ["0", "1", "3", "2"].into_iter().enumerate() {
            script.split(id);
            running.caught_up().await;
            assert_eq!(running.reports().len(), turn + 2, "{}", case.name());
            script.write(1);
            running.caught_up().await;
        }
        running.stop();
        script.finish(running).await;
        script.check(5).await;
    }
}

/// P12: what is written after a start at `now` comes, whatever was split since, also after a restart that read nothing.
#[tokio::test]
async fn a_start_at_now_outlives_splits_that_come_before_any_read() {
    for case in all() {
        let mut script = Script::new(&case, 2).await;
        if case.begins_at_the_beginning() {
            script.write(1);
            script.forget();
        }
        drop(script.prepare(Some(Start::Now)).await.unwrap());
        script.write(1);
        script.split("0");
        script.write(1);
        drop(script.prepare(Some(Start::Now)).await.unwrap());
        script.split("2");
        script.write(1);
        script.run().await;
        script.check(4).await;
    }
}
