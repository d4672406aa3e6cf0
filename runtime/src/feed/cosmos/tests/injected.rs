//! The whole projector while the SDK's own fault injection makes its requests fail, get lost, or take long: whatever
//! happens between the client and the service, each change is counted once.

use azure_data_cosmos::fault_injection::{
    FaultInjectionConditionBuilder, FaultInjectionErrorType as Error, FaultInjectionResultBuilder,
    FaultInjectionRule, FaultInjectionRuleBuilder, FaultOperationType,
};
use projectionist::extract::state::States;
use projectionist::prelude::*;
use projectionist::projection::Start;
use projectionist::registry::{Location, ProjectionDef};

use super::*;
use crate::coordination::Instance;
use crate::coordination::memory::MemoryCoordination;
use crate::engine::{Engine, Limits, Prepared, Setup, Until};
use crate::store::Store;
use crate::store::sqlite::{OpenOptions, SqliteStore};

#[projection(
    collection = "users",
    name = "counted",
    register = false,
    ddl(sqlite = "create table if not exists counted (operation text not null, id text not null)")
)]
struct Counted;

impl Counted {
    #[on_create]
    #[on_replace]
    #[on_delete]
    async fn count(operation: Operation, id: DocumentId, mut tx: Tx<'_>) -> Result<(), TxError> {
        let row = (operation.as_str(), id.as_str());
        tx.execute("insert into counted (operation, id) values ($1, $2)", row)
            .await?;
        Ok(())
    }
}

static COUNTED: ProjectionDef = ProjectionDef::of::<Counted>(Location { file: "", line: 0 });

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
    let options = OpenOptions {
        read_only: false,
        create: true,
    };
    let store = SqliteStore::open(dir.path().join("projector.db"), options)
        .await
        .unwrap();
    let store: Arc<dyn Store> = Arc::new(store);
    let setup = Setup {
        projections: vec![Prepared {
            def: &COUNTED,
            start: Start::Now,
            start_origin: "the test".to_owned(),
            batch: 5,
            feed: Arc::new(feed),
        }],
        states: States::default(),
        store: Arc::clone(&store),
        coordination: Arc::new(MemoryCoordination::new()),
        instance: Instance {
            name: "test".to_owned(),
            incarnation: "1".to_owned(),
            pid: 1,
            started_at: SystemClock.now(),
        },
        clock: Arc::new(SystemClock),
        seed: 1,
        limits: Limits {
            poll: Duration::from_millis(5),
            backoff_first: Duration::from_millis(2),
            backoff_max: Duration::from_millis(20),
            ..Limits::default()
        },
    };
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
        let table = store.query(sql).await.unwrap();
        let found = format!("{:?}", table.rows[0][0]);
        assert_eq!(found, format!("Integer({written})"), "{what}");
    }
    println!("{written} changes; faults: {:?}", hits(&rules));
}

fn hits(rules: &[Arc<FaultInjectionRule>]) -> Vec<(&str, u32)> {
    rules
        .iter()
        .map(|rule| (rule.id(), rule.hit_count()))
        .collect()
}
