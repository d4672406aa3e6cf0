//! The key is stored by whoever the hooks call, so it must never change silently.

use jiff::Timestamp;

use super::*;
use crate::change::Operation;

fn change() -> RawChange {
    RawChange {
        id: "ada".into(),
        partition_key: r#"["t1",7]"#.into(),
        operation: Operation::Replace,
        current: None,
        previous: None,
        etag: Some("\"0000-1\"".into()),
        sequence: Some(42),
        ordinal: 0,
        timestamp: Timestamp::from_second(1_700_000_000).unwrap(),
        expired: false,
    }
}

fn delete() -> RawChange {
    RawChange {
        operation: Operation::Delete,
        etag: None,
        ..change()
    }
}

fn key(change: &RawChange) -> String {
    IdempotencyKey::of("billing", "users@1", change).to_string()
}

#[test]
fn a_write_has_the_key_it_always_had() {
    assert_eq!(
        key(&change()),
        "ba683d7fcd01647a7f88faf47f68b5c997a3b2366fbd0f9615e90ec041a08e59"
    );
}

#[test]
fn a_delete_has_the_key_it_always_had() {
    assert_eq!(
        key(&delete()),
        "bdfcf8b51f4d0cbb09292b05836e6a32a477b9971f4165127b3759d2e625b4c6"
    );
}

/// P4: sequence numbers restart when ranges merge, and a backfill sees other operations.
#[test]
fn a_write_is_its_etag_alone() {
    let elsewhere = RawChange {
        operation: Operation::Upsert,
        sequence: Some(1),
        ordinal: 3,
        timestamp: Timestamp::UNIX_EPOCH,
        ..change()
    };
    assert_eq!(key(&change()), key(&elsewhere));
}

#[test]
fn every_part_counts() {
    let mut keys = vec![
        key(&change()),
        key(&delete()),
        IdempotencyKey::of("billing2", "users@1", &change()).to_string(),
        IdempotencyKey::of("billing", "users@2", &change()).to_string(),
        // The lengths keep neighbours apart.
        IdempotencyKey::of("billingu", "sers@1", &change()).to_string(),
    ];
    let variants = [
        RawChange {
            id: "bob".into(),
            ..change()
        },
        RawChange {
            partition_key: r#"["t2",7]"#.into(),
            ..change()
        },
        RawChange {
            etag: Some("\"0000-2\"".into()),
            ..change()
        },
        RawChange {
            sequence: Some(43),
            ..delete()
        },
        RawChange {
            ordinal: 1,
            ..delete()
        },
        RawChange {
            timestamp: Timestamp::UNIX_EPOCH,
            ..delete()
        },
    ];
    keys.extend(variants.iter().map(key));
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);
}

#[test]
fn a_partition_key_is_read_by_type() {
    let one = PartitionKey(r#"["t1"]"#.into());
    assert_eq!(one.parse::<String>().unwrap(), "t1");
    assert_eq!(one.parse::<(String,)>().unwrap(), ("t1".to_owned(),));
    assert!(one.parse::<i64>().is_err());

    let two = PartitionKey(r#"["t1",7]"#.into());
    assert_eq!(two.parse::<(String, i64)>().unwrap(), ("t1".to_owned(), 7));
    assert!(two.parse::<String>().is_err());
    assert!(two.parse::<(String,)>().is_err());
    assert_eq!(two.to_string(), r#"["t1",7]"#);
}

#[test]
fn a_partition_key_has_parts() {
    let key = PartitionKey(r#"[{},null,true,-7,1.5,"a"]"#.into());
    assert_eq!(
        key.parts().unwrap(),
        [
            KeyPart::Absent,
            KeyPart::Null,
            KeyPart::Bool(true),
            KeyPart::Number(-7.0),
            KeyPart::Number(1.5),
            KeyPart::Text("a".into()),
        ]
    );
    assert!(PartitionKey(r#"[{"a":1}]"#.into()).parts().is_err());
}
