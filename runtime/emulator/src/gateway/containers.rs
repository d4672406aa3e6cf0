//! Databases, containers and their physical ranges.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Served;
use super::answer::{Answer, Refusal};
use super::asked::Asked;
use crate::collection::Collection;
use crate::config::{CollectionConfig, Range};
use crate::emulator::DatabaseInfo;

/// The throughput of one physical range, as on the service.
const UNITS_A_RANGE: u32 = 10_000;
/// What a container's maker may say of it that the emulator only shows again.
const SHOWN: [&str; 8] = [
    "indexingPolicy",
    "uniqueKeyPolicy",
    "conflictResolutionPolicy",
    "geospatialConfig",
    "analyticalStorageTtl",
    "computedProperties",
    "vectorEmbeddingPolicy",
    "fullTextPolicy",
];

/// A container, as a client describes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Described {
    id: String,
    partition_key: Option<KeyDefinition>,
    default_ttl: Option<i32>,
    change_feed_policy: Option<FeedPolicy>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Deserialize)]
struct KeyDefinition {
    paths: Vec<String>,
    kind: Option<String>,
    version: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FeedPolicy {
    /// Minutes.
    retention_duration: Option<u64>,
}

impl Described {
    fn config(&self, ranges: u32, previous_images: bool) -> Result<CollectionConfig, Refusal> {
        let key = self
            .partition_key
            .as_ref()
            .ok_or_else(|| Refusal::bad("the container has no \"partitionKey\""))?;
        let kind = key.kind.as_deref().unwrap_or("Hash");
        let is_right = match kind {
            "Hash" => key.paths.len() == 1,
            "MultiHash" => true,
            _ => {
                return Err(Refusal::bad(format!(
                    "partition keys of kind \"{kind}\" are not supported; use Hash or MultiHash"
                )));
            }
        };
        if !is_right {
            return Err(Refusal::bad(
                "a partition key of kind Hash has one path; a hierarchical one is of kind MultiHash",
            ));
        }
        if let Some(version) = key.version.filter(|version| *version != 2) {
            return Err(Refusal::bad(format!(
                "version {version} of the partition key's hash is not supported by this emulator; use version 2"
            )));
        }
        let minutes = self
            .change_feed_policy
            .as_ref()
            .and_then(|policy| policy.retention_duration);
        Ok(CollectionConfig {
            partition_key: key.paths.clone(),
            ranges,
            default_ttl: self.default_ttl,
            retention: minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(60))),
            previous_images,
        })
    }
}

impl Served {
    pub(super) fn list_databases(&self) -> Answer {
        let databases: Vec<_> = self.emulator.databases().iter().map(database).collect();
        Answer::json(
            200,
            &json!({"_rid": "", "_count": databases.len(), "Databases": databases}),
        )
    }

    pub(super) fn create_database(&self, asked: &Asked) -> Result<Answer, Refusal> {
        #[derive(Deserialize)]
        struct Body {
            id: String,
        }
        if asked.is_query() {
            // Clients look a database up by a query of its own kind; the list answers any.
            return Ok(self.list_databases());
        }
        let Body { id } = asked.json()?;
        let info = self.emulator.create_database(&id)?;
        Ok(Answer::json(201, &database(&info)).header("etag", etag(&info.rid)))
    }

    pub(super) fn read_database(&self, name: &str) -> Result<Answer, Refusal> {
        let info = self.database(name)?;
        Ok(Answer::json(200, &database(&info)).header("etag", etag(&info.rid)))
    }

    pub(super) fn delete_database(&self, name: &str) -> Result<Answer, Refusal> {
        let info = self.database(name)?;
        self.emulator.delete_database(&info.name)?;
        Ok(Answer::empty(204))
    }

    /// A database by its name or its resource id.
    fn database(&self, name: &str) -> Result<DatabaseInfo, Refusal> {
        self.emulator
            .databases()
            .into_iter()
            .find(|info| info.name == name || info.rid == name)
            .ok_or_else(|| Refusal::missing(&format!("database \"{name}\"")))
    }

    pub(super) fn list_containers(&self, name: &str) -> Result<Answer, Refusal> {
        let info = self.database(name)?;
        let containers: Vec<_> = self
            .emulator
            .collections_in(&info.name)
            .iter()
            .map(|collection| self.shown(collection))
            .collect();
        Ok(Answer::json(
            200,
            &json!({"_rid": info.rid, "_count": containers.len(), "DocumentCollections": containers}),
        ))
    }

    pub(super) fn create_container(&self, name: &str, asked: &Asked) -> Result<Answer, Refusal> {
        if asked.is_query() {
            return self.list_containers(name);
        }
        let info = self.database(name)?;
        let described: Described = asked.json()?;
        let config = described.config(self.ranges_for(asked)?, self.switches().previous_images)?;
        let Described { id, rest, .. } = described;
        let properties = rest
            .into_iter()
            .filter(|(name, _)| SHOWN.contains(&name.as_str()))
            .collect();
        let collection = self
            .emulator
            .create_in(&info.name, &id, config, properties)?;
        Ok(self.show(201, &collection))
    }

    pub(super) fn read_container(&self, database: &str, name: &str) -> Result<Answer, Refusal> {
        let collection = self.container(database, name)?;
        Ok(self.show(200, &collection))
    }

    pub(super) fn replace_container(
        &self,
        database: &str,
        name: &str,
        asked: &Asked,
    ) -> Result<Answer, Refusal> {
        let collection = self.container(database, name)?;
        let described: Described = asked.json()?;
        if described.id != collection.name() {
            return Err(Refusal::bad(format!(
                "the body is container \"{}\", the path is \"{}\"",
                described.id,
                collection.name()
            )));
        }
        let before = collection.config();
        let config = described.config(before.ranges, before.previous_images)?;
        self.emulator.configure(&collection, config)?;
        Ok(self.show(200, &collection))
    }

    pub(super) fn delete_container(&self, database: &str, name: &str) -> Result<Answer, Refusal> {
        let collection = self.container(database, name)?;
        self.emulator
            .delete_in(collection.database(), collection.name())?;
        Ok(Answer::empty(204))
    }

    /// A container by its name or its resource id.
    pub(super) fn container(&self, database: &str, name: &str) -> Result<Arc<Collection>, Refusal> {
        let info = self.database(database)?;
        self.emulator
            .collections_in(&info.name)
            .into_iter()
            .find(|collection| collection.name() == name || collection.rid() == name)
            .ok_or_else(|| {
                Refusal::missing(&format!("container \"{name}\" of database \"{database}\""))
                    .sub(1003)
            })
    }

    /// How many ranges the asked throughput makes.
    fn ranges_for(&self, asked: &Asked) -> Result<u32, Refusal> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Autopilot {
            max_throughput: u32,
        }
        let units = match (
            asked.header("x-ms-offer-throughput"),
            asked.header("x-ms-cosmos-offer-autopilot-settings"),
        ) {
            (Some(text), _) => text
                .parse()
                .map_err(|_| Refusal::bad(format!("x-ms-offer-throughput: {text} is no number")))?,
            (None, Some(text)) => {
                let settings: Autopilot = serde_json::from_str(text).map_err(|error| {
                    Refusal::bad(format!("x-ms-cosmos-offer-autopilot-settings: {error}"))
                })?;
                settings.max_throughput
            }
            (None, None) => 0,
        };
        let ranges = u32::div_ceil(units, UNITS_A_RANGE).max(self.ranges);
        if ranges > 4096 {
            return Err(Refusal::bad(format!(
                "a throughput of {units} would make {ranges} ranges; 4096 are possible"
            )));
        }
        Ok(ranges)
    }

    fn show(&self, status: u16, collection: &Collection) -> Answer {
        let database = self
            .database(collection.database())
            .map_or_else(|_| String::new(), |info| info.rid);
        Answer::json(status, &self.shown(collection))
            .header("etag", etag(collection.rid()))
            .owned_by(&format!("dbs/{}", collection.database()), &database)
    }

    fn shown(&self, collection: &Collection) -> Value {
        let config = collection.config();
        let mut shown = collection.properties().clone();
        let kind = if config.partition_key.len() > 1 {
            "MultiHash"
        } else {
            "Hash"
        };
        let link = collection.link();
        let known = json!({
            "id": collection.name(),
            "_rid": collection.rid(),
            "_self": link,
            "_etag": etag(collection.rid()),
            "_ts": collection.created_at(),
            "_docs": "docs/",
            "_sprocs": "sprocs/",
            "_triggers": "triggers/",
            "_udfs": "udfs/",
            "_conflicts": "conflicts/",
            "partitionKey": {"paths": config.partition_key, "kind": kind, "version": 2},
        });
        if let Value::Object(known) = known {
            shown.extend(known);
        }
        shown.entry("indexingPolicy").or_insert_with(|| {
            json!({
                "indexingMode": "consistent",
                "automatic": true,
                "includedPaths": [{"path": "/*"}],
                "excludedPaths": [{"path": "/\"_etag\"/?"}]
            })
        });
        if let Some(ttl) = config.default_ttl {
            shown.insert("defaultTtl".to_owned(), json!(ttl));
        }
        if let Some(retention) = config.retention {
            let minutes = if self.switches().vnext {
                0
            } else {
                retention.as_secs() / 60
            };
            let policy = json!({"retentionDuration": minutes});
            shown.insert("changeFeedPolicy".to_owned(), policy);
        }
        Value::Object(shown)
    }

    /// The physical ranges, or 304 where the client has them already.
    pub(super) fn ranges(collection: &Collection, asked: &Asked) -> Answer {
        let topology = format!("\"{}\"", collection.topology());
        if asked.header("if-none-match") == Some(topology.as_str()) {
            return Answer::empty(304).header("etag", topology);
        }
        let ranges = collection.ranges();
        #[expect(clippy::cast_precision_loss, reason = "ranges are at most thousands")]
        let share = 1.0 / ranges.len() as f64;
        let shown: Vec<_> = ranges
            .iter()
            .map(|range| {
                let Range {
                    id,
                    min,
                    max,
                    parents,
                } = range;
                json!({
                    "_rid": collection.rid(),
                    "id": id,
                    "_etag": etag(id),
                    "minInclusive": min,
                    "maxExclusive": max,
                    "ridPrefix": id.parse::<u32>().unwrap_or(0),
                    "_self": format!("{}pkranges/{id}/", collection.link()),
                    "throughputFraction": share,
                    "status": "online",
                    "parents": parents,
                    "_ts": collection.created_at(),
                    "_lsn": 1,
                })
            })
            .collect();
        Answer::json(
            200,
            &json!({"_rid": collection.rid(), "_count": shown.len(), "PartitionKeyRanges": shown}),
        )
        .header("etag", topology)
        .header("x-ms-item-count", shown.len().to_string())
    }
}

fn database(info: &DatabaseInfo) -> Value {
    let DatabaseInfo {
        name,
        rid,
        created_at,
    } = info;
    json!({
        "id": name,
        "_rid": rid,
        "_self": format!("dbs/{rid}/"),
        "_etag": etag(rid),
        "_ts": created_at,
        "_colls": "colls/",
        "_users": "users/",
    })
}

/// An etag of what never changes under its name.
fn etag(of: &str) -> String {
    format!("\"{of}\"")
}
