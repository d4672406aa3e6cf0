//! One random step, made on both sides.

use std::collections::{BTreeMap, HashMap};

use azure_data_cosmos::models::{TransactionalBatch, TransactionalBatchOperationResult};
use azure_data_cosmos::options::{ItemWriteOptions, Precondition};
use fastrand::Rng;
use serde_json::{Value, json};

use super::sides::{Side, Sides, bare};

/// What the steps so far came to.
#[derive(Default)]
pub(crate) struct Script {
    /// How often each status was answered.
    pub(crate) statuses: BTreeMap<u16, u32>,
    /// The newest etags of a document, ours and theirs.
    etags: HashMap<(String, String), [String; 2]>,
    /// A number for each write, so that an order can be asked for.
    sequence: u64,
}

/// What one side answered.
struct Told {
    status: u16,
    etag: Option<String>,
    body: Option<Value>,
}

enum Step {
    Create,
    Replace,
    Upsert,
    Delete,
    Read,
    Batch(Vec<Value>),
}

impl Script {
    pub(crate) async fn step(&mut self, sides: &Sides, rng: &mut Rng, seed: u64) {
        let pk = rng.u8(0..12).to_string();
        let id = rng.u8(0..5).to_string();
        let document = self.document(&pk, &id, rng);
        let step = match rng.u8(0..10) {
            0 | 1 => Step::Create,
            2 | 3 => Step::Replace,
            4..=6 => Step::Upsert,
            7 => Step::Delete,
            8 => Step::Read,
            _ => {
                let batch = self.sequence;
                let documents = (0..rng.usize(1..5)).map(|_| {
                    let id = rng.u8(0..8).to_string();
                    let mut document = self.document(&pk, &id, rng);
                    document["batch"] = json!(batch);
                    document
                });
                Step::Batch(documents.collect())
            }
        };
        let name = (pk.clone(), id.clone());
        let etags = match rng.u8(0..3) {
            0 => self.etags.get(&name).cloned(),
            1 => Some([
                "\"00000000-0000-0000-0000-000000000000\"".to_owned(),
                "\"00000000-0000-0000-0000-000000000000\"".to_owned(),
            ]),
            _ => None,
        };
        // A precondition on half of the writes; creates have none.
        let etags = etags.filter(|_| rng.bool() && !matches!(step, Step::Create));
        let make = |side, at: usize| {
            let etag = etags.as_ref().map(|etags| etags[at].clone());
            make(side, &step, &pk, &id, &document, etag)
        };
        let ours = make(&sides.ours, 0).await;
        let theirs = make(&sides.theirs, 1).await;
        assert_eq!(
            ours.status, theirs.status,
            "seed {seed}, document {document}"
        );
        assert_eq!(ours.body.map(bare), theirs.body.map(bare), "seed {seed}");
        *self.statuses.entry(ours.status).or_default() += 1;
        if let (Some(ours), Some(theirs)) = (ours.etag, theirs.etag) {
            self.etags.insert(name, [ours, theirs]);
        }
    }

    fn document(&mut self, pk: &str, id: &str, rng: &mut Rng) -> Value {
        self.sequence += 1;
        let mut document = json!({"id": id, "pk": pk, "seq": self.sequence, "n": rng.u8(0..20)});
        if rng.bool() {
            document["text"] = json!(format!("t{}", rng.u8(0..4)));
        }
        if rng.bool() {
            document["flag"] = json!(rng.bool());
        }
        if rng.bool() {
            let nested = [json!(1), json!(2.5), json!("x"), Value::Null];
            document["nested"] = json!({"x": nested[rng.usize(..nested.len())]});
        }
        document
    }
}

async fn make(
    side: &Side,
    step: &Step,
    pk: &str,
    id: &str,
    document: &Value,
    etag: Option<String>,
) -> Told {
    let container = &side.container;
    let options = etag
        .map(|etag| ItemWriteOptions::default().with_precondition(Precondition::if_match(etag)));
    let pk = pk.to_owned();
    let answer = match step {
        Step::Create => container.create_item(pk, id, document, options).await,
        Step::Replace => container.replace_item(pk, id, document, options).await,
        Step::Upsert => container.upsert_item(pk, id, document, options).await,
        Step::Delete => container.delete_item(pk, id, options).await,
        Step::Read => container.read_item(pk, id, None).await,
        Step::Batch(documents) => return batch(side, pk, documents).await,
    };
    match answer {
        Ok(response) => {
            let status = u16::from(response.status().status_code());
            let etag = response.headers().etag().map(ToString::to_string);
            let body = match step {
                Step::Read => Some(response.into_model().unwrap()),
                _ => None,
            };
            Told { status, etag, body }
        }
        Err(error) => Told {
            status: u16::from(error.status().status_code()),
            etag: None,
            body: None,
        },
    }
}

/// A batch that creates the first document and upserts the others.
async fn batch(side: &Side, pk: String, documents: &[Value]) -> Told {
    let mut batch = TransactionalBatch::new(pk);
    for (index, document) in documents.iter().enumerate() {
        batch = if index == 0 {
            batch.create_item(document).unwrap()
        } else {
            batch.upsert_item(document, None).unwrap()
        };
    }
    match side
        .container
        .execute_transactional_batch(batch, None)
        .await
    {
        Ok(response) => {
            let status = u16::from(response.status().status_code());
            let results = response.into_model().unwrap();
            let codes: Vec<_> = results
                .results()
                .iter()
                .map(TransactionalBatchOperationResult::status_code)
                .collect();
            Told {
                status,
                etag: None,
                body: Some(json!(codes)),
            }
        }
        Err(error) => Told {
            status: u16::from(error.status().status_code()),
            etag: None,
            body: None,
        },
    }
}
