//! Errors of the SDK and the service, by what they come to.

use azure_data_cosmos::{CosmosError, CosmosStatus};

use super::{Fault, plain};
use crate::feed::FeedError;
use crate::feed::cosmos::Target;

fn fault(code: u16, sub: u16, message: &'static str) -> Fault {
    let mut status = CosmosStatus::new(code.into());
    if sub > 0 {
        status = status.with_sub_status(sub);
    }
    let error = CosmosError::builder()
        .with_status(status)
        .with_message(message);
    error.build().into()
}

#[test]
fn each_error_has_its_meaning() {
    let kind = |fault: &Fault| match fault {
        Fault::TooLarge(_) => "too large",
        Fault::Unreadable(_) | Fault::Undecodable { .. } => "unreadable",
        Fault::Splitting(_) => "splitting",
        Fault::Identity(_) => "identity",
        Fault::Position(_) => "position",
        Fault::Beyond(_) => "beyond",
        Fault::Merged(_) => "merged",
        Fault::Retention(_) => "retention",
        Fault::NoHistory(_) => "no history",
        Fault::Denied(_) => "denied",
        Fault::Transient(_) => "transient",
    };
    for (code, sub, message, expected) in [
        (429, 3200, "Request rate is large", "transient"),
        (408, 0, "", "transient"),
        (408, 20008, "deadline", "transient"),
        (449, 0, "", "transient"),
        (503, 20305, "topology", "transient"),
        (500, 0, "", "transient"),
        (410, 1002, "", "transient"),
        (410, 1000, "", "identity"),
        (404, 1002, "session", "transient"),
        (404, 0, "", "identity"),
        (404, 1003, "", "identity"),
        (400, 1024, "", "identity"),
        (413, 0, "", "too large"),
        (500, 20020, "", "unreadable"),
        (500, 20206, "", "splitting"),
        (500, 20203, "", "position"),
        (400, 20116, "", "position"),
        (
            400,
            0,
            "continuation token was issued for LatestVersion mode",
            "position",
        ),
        (
            400,
            0,
            "token container rid \"a\" does not match the operation's container rid",
            "position",
        ),
        (
            400,
            0,
            "You must read the change feed from within the retention period.",
            "retention",
        ),
        (
            400,
            0,
            "Change Feed 'All Versions and Deletes' mode must be enabled",
            "no history",
        ),
        (
            400,
            0,
            "continuation 9 of collection \"users\" lies beyond its newest change, 3",
            "beyond",
        ),
        (
            400,
            0,
            "the all-versions feed does not reach across a merge",
            "merged",
        ),
        (400, 0, "something else", "transient"),
        (401, 0, "signature", "denied"),
        (403, 5302, "RBAC", "denied"),
        (403, 0, "firewall", "denied"),
        (403, 3, "write forbidden", "transient"),
        (403, 1008, "region", "transient"),
    ] {
        let fault = fault(code, sub, message);
        assert_eq!(kind(&fault), expected, "{code}/{sub} {message}");
    }
}

#[test]
fn a_reader_learns_what_the_service_said() {
    let target = Target {
        collection: "people".to_owned(),
        account: "main".to_owned(),
        database: "shop".to_owned(),
        container: "users".to_owned(),
    };
    let denied = plain(
        fault(403, 5302, "the principal lacks readChangeFeed"),
        &target,
    );
    assert!(denied.is_terminal());
    assert_eq!(
        denied.to_string(),
        "account `main` does not let this program read collection `people`"
    );
    let source = std::error::Error::source(&denied).unwrap().to_string();
    assert!(source.contains("readChangeFeed"), "{source}");
    let busy = plain(fault(503, 0, "busy"), &target);
    assert!(matches!(busy, FeedError::Unavailable { .. }) && !busy.is_terminal());
}
