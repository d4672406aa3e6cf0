//! The two sides: our gateway, and Microsoft's in-memory core, each behind a client of its own.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use azure_core::credentials::Secret;
use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::feed::FeedScope;
use azure_data_cosmos::models::{
    ChangeFeedItem, ContainerProperties, PartitionKeyDefinition, ThroughputProperties,
};
use azure_data_cosmos::options::{ChangeFeedStartFrom, CreateContainerOptions, Region};
use azure_data_cosmos::{
    AccountReference, CosmosClient, CosmosClientBuilder, CosmosRuntimeBuilder, RoutingStrategy,
};
use azure_data_cosmos_driver::in_memory_emulator::{
    ContainerConfig, InMemoryEmulatorHttpClient, VirtualAccountConfig, VirtualRegion,
};
use futures_util::StreamExt as _;
use projectionist_emulator::gateway::{Gateway, GatewayOptions, WELL_KNOWN_KEY};
use projectionist_emulator::{Collection, Emulator, Options};
use serde_json::Value;
use url::Url;

const RANGES: u32 = 2;

/// One side's container.
pub(crate) struct Side {
    pub(crate) container: ContainerClient,
}

impl Side {
    /// The whole latest-version feed, range after range, each change with its range.
    pub(crate) async fn feed(&self) -> Vec<(String, Value)> {
        let mut ranges = self.container.read_feed_ranges(None).await.unwrap();
        ranges.sort_by(|a, b| a.min_inclusive().cmp(b.min_inclusive()));
        let mut changes = Vec::new();
        for range in ranges {
            let name = range.min_inclusive().to_hex();
            let scope = FeedScope::range(range);
            let start = ChangeFeedStartFrom::Beginning;
            let mut pages = self
                .container
                .query_change_feed::<Value>(scope, start, None)
                .await
                .unwrap();
            // An empty page is a range's end; a range that was split has two.
            let mut empty = 0;
            while empty < 8 {
                let page = pages.next().await.unwrap().unwrap();
                let items: Vec<ChangeFeedItem<Value>> = page.into_items();
                empty = if items.is_empty() { empty + 1 } else { 0 };
                for item in items {
                    changes.push((name.clone(), item.current().unwrap().clone()));
                }
            }
        }
        changes
    }
}

/// Both sides.
pub(crate) struct Sides {
    pub(crate) ours: Side,
    pub(crate) theirs: Side,
    collection: Arc<Collection>,
    core: Arc<InMemoryEmulatorHttpClient>,
    /// The ids of the core's partitions, in the order of the key space.
    partitions: Mutex<Vec<u32>>,
    _gateway: Gateway,
}

/// A document without what each side writes itself.
pub(crate) fn bare(mut document: Value) -> Value {
    if let Value::Object(fields) = &mut document {
        fields.retain(|name, _| !name.starts_with('_'));
    }
    document
}

impl Sides {
    pub(crate) async fn start() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "the clients' clock is the machine's too"
        )]
        let clock = Arc::new(jiff::Timestamp::now);
        let emulator = Emulator::in_memory(Options::new(clock));
        let gateway = Gateway::start(emulator.clone(), GatewayOptions::new(0))
            .await
            .unwrap();
        let account = AccountReference::with_authentication_key(
            gateway.url().parse().unwrap(),
            Secret::new(WELL_KNOWN_KEY),
        );
        let client = CosmosClient::builder()
            .build(account, RoutingStrategy::PreferredRegions(Vec::new()))
            .await
            .unwrap();
        client.create_database("d", None).await.unwrap();
        let key: PartitionKeyDefinition = serde_json::from_value(definition()).unwrap();
        let throughput = ThroughputProperties::manual(u64::from(RANGES) * 10_000);
        let options = CreateContainerOptions::default().with_throughput(throughput);
        client
            .database_client("d")
            .create_container(ContainerProperties::new("c", key), Some(options))
            .await
            .unwrap();
        let ours = Side {
            container: client
                .database_client("d")
                .container_client("c", None)
                .await
                .unwrap(),
        };
        let collection = emulator.collection_in("d", "c").unwrap();

        let url = Url::parse("https://eastus.emulator.local").unwrap();
        let region = VirtualRegion::new("East US", url.clone());
        let config = VirtualAccountConfig::new(vec![region]).unwrap();
        let core = Arc::new(InMemoryEmulatorHttpClient::new(config));
        core.store().create_database("d");
        core.store().create_container_with_config(
            "d",
            "c",
            serde_json::from_value(definition()).unwrap(),
            ContainerConfig::new()
                .with_partition_count(RANGES)
                .build()
                .unwrap(),
        );
        let runtime = CosmosRuntimeBuilder::from(core.runtime_builder())
            .build()
            .await
            .unwrap();
        let account = AccountReference::with_authentication_key(
            url.as_str().parse().unwrap(),
            Secret::new(WELL_KNOWN_KEY),
        );
        let client = CosmosClientBuilder::new()
            .with_runtime(runtime)
            .build(account, RoutingStrategy::ProximityTo(Region::EAST_US))
            .await
            .unwrap();
        let theirs = Side {
            container: client
                .database_client("d")
                .container_client("c", None)
                .await
                .unwrap(),
        };
        Self {
            ours,
            theirs,
            collection,
            core,
            partitions: Mutex::new((0..RANGES).collect()),
            _gateway: gateway,
        }
    }

    /// The number of physical ranges.
    pub(crate) fn ranges(&self) -> usize {
        self.partitions.lock().unwrap().len()
    }

    /// Splits the same range on both sides.
    pub(crate) async fn split(&self, at: usize) {
        let range = &self.collection.ranges()[at];
        self.collection.split(&range.id).unwrap();
        let partition = self.partitions.lock().unwrap()[at];
        let store = self.core.store();
        store.split_partition("d", "c", partition, Duration::ZERO);
        store.wait_for_split("d", "c", partition).await;
        let children = store.child_partition_ids("d", "c", &[partition]);
        assert_eq!(children.len(), 2);
        self.partitions.lock().unwrap().splice(at..=at, children);
    }
}

fn definition() -> Value {
    serde_json::json!({"paths": ["/pk"], "kind": "Hash", "version": 2})
}
