//! The whole projector while the SDK's own fault injection makes its requests fail, get lost, or take long: whatever
//! happens between the client and the service, each change is counted once.

use super::*;
use crate::engine::{Engine, Until};
use azure_data_cosmos::fault_injection::{
    FaultInjectionConditionBuilder, FaultInjectionErrorType as Error, FaultInjectionResultBuilder,
    FaultInjectionRule, FaultInjectionRuleBuilder, FaultOperationType,
};

/// One kind of fault, in every third read of the feed while it is on.
fn rule(name: &str, result: FaultInjectionResultBuilder) -> Arc<FaultInjectionRule> {
    let reads = FaultInjectionConditionBuilder::new()
        .with_operation_type(FaultOperationType::ChangeFeedItem)
        .build();
    let rule = FaultInjectionRuleBuilder::new(name, result.with_probability(1.0 / 3.0).build());
    Arc::new(rule.with_condition(reads).build())
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_the_sdk_meets_each_change_is_counted_once() {
    let fails = |name, error| rule(name, FaultInjectionResultBuilder::new().with_error(error));
    let slow = FaultInjectionResultBuilder::new().with_delay(Duration::from_millis(30));
    let rules = vec![
        fails("429", Error::TooManyRequests),
        fails("449", Error::RetryWith),
        fails("408", Error::Timeout),
        fails("503", Error::ServiceUnavailable),
        fails("500", Error::InternalServerError),
        fails("410", Error::PartitionIsGone),
        fails("no connection", Error::ConnectionError),
        fails("no answer", Error::ResponseTimeout),
        fails("lost answer", Error::ResponseTimeoutAfterService),
        rule("slow", slow),
    ];
    let world = World::of(CollectionConfig::new("/tenant").ranges(2).retention(WEEK)).await;
    let mut account = Account::new(world.settings(WELL_KNOWN_KEY));
    account.rules.clone_from(&rules);
    let feed = CosmosFeed::connect(
        Arc::new(account),
        World::target("users"),
        true,
        Arc::new(SystemClock),
    )
    .await
    .unwrap();

    let dir = tempfile::tempdir().unwrap();
    let store = counted::store(&dir).await;
    let setup = counted::setup(feed, &store, 5);
    let running = Engine::prepare(setup).await.unwrap().start(Until::Stopped);

    let mut written = 0;
    let is_hit = |rule: &Arc<FaultInjectionRule>| rule.hit_count() > 0;
    while written < 200 || !rules.iter().all(is_hit) {
        assert!(
            written < 10_000,
            "some faults never came: {:?}",
            hits(&rules)
        );
        world.put(written..written + 20);
        if written == 100 {
            world.collection().split("0").unwrap();
        }
        written += 20;
        // The SDK takes the first rule that fits, so one is on at a time.
        for (index, rule) in rules.iter().enumerate() {
            if index == (written / 20) % rules.len() {
                rule.enable();
            } else {
                rule.disable();
            }
        }
        running.caught_up().await;
    }
    running.stop();
    let summary = running.finished().await;
    assert!(summary.failed.is_empty(), "{:?}", summary.failed);
    assert_eq!(summary.letters, 0);
    for (sql, what) in [
        ("select count(*) from counted", "rows"),
        ("select count(distinct id) from counted", "documents"),
        (
            "select count(*) from counted where operation = 'create'",
            "creates",
        ),
    ] {
        assert_eq!(
            counted::number(&store, sql).await,
            i64::try_from(written).unwrap(),
            "{what}"
        );
    }
    println!("{written} changes; faults: {:?}", hits(&rules));
}

fn hits(rules: &[Arc<FaultInjectionRule>]) -> Vec<(&str, u32)> {
    rules
        .iter()
        .map(|rule| (rule.id(), rule.hit_count()))
        .collect()
}
