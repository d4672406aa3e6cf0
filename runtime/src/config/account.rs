//! Accounts in Azure Cosmos DB, `[accounts.NAME]`, and where in one a collection lies.

use std::fmt;

/// An account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Its address: `https://shop.documents.azure.com`.
    pub endpoint: String,
    /// How to sign in.
    pub auth: Auth,
    /// The account's key, for [`Auth::Key`].
    pub key: Option<Secret>,
    /// The identity to take, where the machine has several.
    pub client_id: Option<String>,
    /// The tenant of the identity.
    pub tenant_id: Option<String>,
    /// The regions to read from, the nearest first. Empty: as the account orders them.
    pub regions: Vec<String>,
}

/// How to sign in to an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Auth {
    /// By the first of the identities below that the environment offers.
    #[default]
    Identity,
    /// As the machine's managed identity.
    ManagedIdentity,
    /// As the pod's workload identity.
    WorkloadIdentity,
    /// As whoever signed in to `az` or `azd`.
    DeveloperTools,
    /// By the account's key.
    Key,
}

impl Auth {
    /// As settings write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::ManagedIdentity => "managed-identity",
            Self::WorkloadIdentity => "workload-identity",
            Self::DeveloperTools => "developer",
            Self::Key => "key",
        }
    }
}

/// A text that nobody is shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, for whom it is meant.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("********")
    }
}

/// Where in which account a collection lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The account's name in settings.
    pub account: String,
    /// The database.
    pub database: String,
    /// The container.
    pub container: String,
}
