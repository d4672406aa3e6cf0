//! What an error of the SDK means to a reader.

#[cfg(test)]
mod tests;

use azure_data_cosmos::CosmosError;

use super::Target;
use crate::feed::FeedError;
use crate::position::Position;

/// An error, by what to do about it.
#[derive(Debug)]
pub(super) enum Fault {
    /// The answer was too large: ask for less.
    TooLarge(CosmosError),
    /// A page does not decode.
    Unreadable(CosmosError),
    /// Nor does it where it holds one change.
    Undecodable {
        error: CosmosError,
        /// Behind it.
        after: Position,
    },
    /// A range is being split: ask again in a moment.
    Splitting(CosmosError),
    /// The container may be another one, or gone: look.
    Identity(CosmosError),
    /// The position is none of this feed.
    Position(CosmosError),
    /// The position lies beyond the feed's end.
    Beyond(CosmosError),
    /// Ranges were merged since the position.
    Merged(CosmosError),
    /// The position is older than what is retained.
    Retention(CosmosError),
    /// The all-versions feed is not enabled.
    NoHistory(CosmosError),
    /// The account refuses who asks.
    Denied(CosmosError),
    /// Not now.
    Transient(CosmosError),
}

impl From<CosmosError> for Fault {
    fn from(error: CosmosError) -> Self {
        let status = error.status();
        let code = u16::from(status.status_code());
        let sub = status.sub_status().map_or(0, |sub| sub.value());
        match (code, sub) {
            (413, _) => Self::TooLarge(error),
            (500, 20020) => Self::Unreadable(error),
            (500, 20206) => Self::Splitting(error),
            (500, 20203..=20205 | 20213) | (400, 20007 | 20116 | 20117) => Self::Position(error),
            // A region that just stopped being the one, a replica that is not up to date: the SDK's affair.
            (403, 3 | 1008) | (404, 1002) => Self::Transient(error),
            (401 | 403, _) => Self::Denied(error),
            (404, _) | (400, 1024) | (410, 1000) => Self::Identity(error),
            (400, _) => {
                // These have no code of their own: the service's words are what the official clients go by.
                let text = said(&error).to_lowercase();
                if text.contains("retention period") {
                    Self::Retention(error)
                } else if text.contains("mode must be enabled")
                    || text.contains("all versions and deletes")
                {
                    Self::NoHistory(error)
                } else if text.contains("beyond its newest change") {
                    // The emulator's gateway: a container of the service never shrinks.
                    Self::Beyond(error)
                } else if text.contains("does not reach across a merge") {
                    Self::Merged(error)
                } else if text.contains("continuation token")
                    || text.contains("token container rid")
                {
                    Self::Position(error)
                } else if text.contains("too large") {
                    Self::TooLarge(error)
                } else {
                    Self::Transient(error)
                }
            }
            _ => Self::Transient(error),
        }
    }
}

/// Everything that an error says, the service's own words among it.
fn said(error: &CosmosError) -> String {
    let mut text = error.to_string();
    let body = error
        .response()
        .and_then(|response| response.body().clone().single().ok());
    if let Some(body) = body {
        text.push(' ');
        text.push_str(&String::from_utf8_lossy(&body));
    }
    text
}

/// A fault for which the container need not be looked up.
pub(super) fn plain(fault: Fault, target: &Target) -> FeedError {
    let collection = target.collection.clone();
    match fault {
        Fault::Denied(error) => FeedError::Denied {
            collection,
            account: target.account.clone(),
            source: error.into(),
        },
        Fault::TooLarge(error)
        | Fault::Unreadable(error)
        | Fault::Undecodable { error, .. }
        | Fault::Splitting(error)
        | Fault::Identity(error)
        | Fault::Position(error)
        | Fault::Beyond(error)
        | Fault::Merged(error)
        | Fault::Retention(error)
        | Fault::NoHistory(error)
        | Fault::Transient(error) => FeedError::Unavailable {
            collection,
            source: error.into(),
        },
    }
}
