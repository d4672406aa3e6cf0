//! An account in Azure Cosmos DB, and how to sign in to it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use azure_core::credentials::{Secret, TokenCredential};
use azure_data_cosmos::options::{
    EndToEndOperationLatencyPolicy, OperationOptions, Region, ThrottlingRetryOptions,
    Utf8DecodingMode,
};
use azure_data_cosmos::{
    AccountEndpoint, AccountReference, CosmosClient, CosmosError, CosmosRuntime, RoutingStrategy,
};
use azure_identity::{
    DeveloperToolsCredential, ManagedIdentityCredential, ManagedIdentityCredentialOptions,
    UserAssignedId, WorkloadIdentityCredential, WorkloadIdentityCredentialOptions,
};
use projectionist::verdict::BoxError;
use tokio::sync::OnceCell;

use super::Target;
use super::fault::{Fault, plain};
use crate::config::{self, Auth};
use crate::feed::FeedError;

/// What a token must be good for.
const SCOPE: &str = "https://cosmos.azure.com/.default";
/// How long one read may take, waiting for a throttled service included. Below half of a lease's life.
const READ: Duration = Duration::from_secs(25);
/// How much of that may be spent on waiting where the service throttles.
const THROTTLED: Duration = Duration::from_secs(20);
const THROTTLED_TRIES: u32 = 9;

/// An account: its endpoint, how to sign in, and one client for all its collections.
pub struct Account {
    settings: config::Account,
    client: OnceCell<CosmosClient>,
    /// Whether the client shares what the SDK remembers for the whole process: the containers, by their names.
    shares: bool,
    /// What is to go wrong between the SDK and the service.
    #[cfg(test)]
    pub(super) rules: Vec<Arc<azure_data_cosmos::fault_injection::FaultInjectionRule>>,
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Account {
    /// An account as settings describe it. Nothing is connected yet.
    pub fn new(settings: config::Account) -> Self {
        Self {
            settings,
            client: OnceCell::new(),
            shares: true,
            #[cfg(test)]
            rules: Vec::new(),
        }
    }

    /// The same account, with nothing remembered of it.
    pub(super) fn anew(&self) -> Self {
        Self {
            shares: false,
            ..Self::new(self.settings.clone())
        }
    }

    /// The client, connected at the first call.
    pub(super) async fn client(&self) -> Result<&CosmosClient, AccountError> {
        self.client.get_or_try_init(|| self.connect()).await
    }

    async fn connect(&self) -> Result<CosmosClient, AccountError> {
        let endpoint: AccountEndpoint =
            self.settings.endpoint.parse().map_err(AccountError::Sdk)?;
        let account = match (&self.settings.auth, &self.settings.key) {
            (Auth::Key, Some(key)) => AccountReference::with_authentication_key(
                endpoint,
                Secret::new(key.reveal().to_owned()),
            ),
            (Auth::Key, None) => return Err(AccountError::Login("no key is set".into())),
            _ => AccountReference::with_credential(endpoint, self.login().await?),
        };
        let regions = self.settings.regions.iter().cloned().map(Region::from);
        let mut builder = CosmosClient::builder();
        if !self.shares {
            let runtime = CosmosRuntime::builder().build().await;
            builder = builder.with_runtime(runtime.map_err(AccountError::Sdk)?);
        }
        #[cfg(test)]
        {
            let rules = self.rules.clone();
            builder = builder
                .with_fault_injection_rules(rules)
                .map_err(AccountError::Sdk)?;
        }
        builder
            .with_default_operation_options(patience())
            .build(
                account,
                RoutingStrategy::PreferredRegions(regions.collect()),
            )
            .await
            .map_err(AccountError::Sdk)
    }

    /// The credential that `auth` names. `identity` takes the first of those that the environment offers.
    async fn login(&self) -> Result<Arc<dyn TokenCredential>, AccountError> {
        let mut failures = Vec::new();
        for way in self.ways() {
            let credential = match self.credential(way) {
                Ok(credential) => credential,
                Err(error) => {
                    failures.push(format!("{}: {error}", way.as_str()));
                    continue;
                }
            };
            match credential.get_token(&[SCOPE], None).await {
                Ok(_) => return Ok(credential),
                Err(error) => failures.push(format!("{}: {error}", way.as_str())),
            }
        }
        Err(AccountError::Login(failures.join("; ").into()))
    }

    fn ways(&self) -> Vec<Auth> {
        match self.settings.auth {
            Auth::Identity => ways(|name| std::env::var_os(name).is_some()),
            named => vec![named],
        }
    }

    fn credential(&self, way: Auth) -> azure_core::Result<Arc<dyn TokenCredential>> {
        let config::Account {
            client_id,
            tenant_id,
            ..
        } = &self.settings;
        Ok(match way {
            Auth::WorkloadIdentity => {
                WorkloadIdentityCredential::new(Some(WorkloadIdentityCredentialOptions {
                    client_id: client_id.clone(),
                    tenant_id: tenant_id.clone(),
                    ..Default::default()
                }))?
            }
            Auth::ManagedIdentity => {
                ManagedIdentityCredential::new(Some(ManagedIdentityCredentialOptions {
                    user_assigned_id: client_id.clone().map(UserAssignedId::ClientId),
                    ..Default::default()
                }))?
            }
            _ => DeveloperToolsCredential::new(None)?,
        })
    }
}

/// The ways to sign in that an environment offers, those first that it was prepared for. On a plain virtual machine only
/// asking tells, and that takes long where there is no such service: last.
fn ways(has: impl Fn(&str) -> bool) -> Vec<Auth> {
    let mut ways = Vec::new();
    if has("AZURE_FEDERATED_TOKEN_FILE") {
        ways.push(Auth::WorkloadIdentity);
    }
    if has("IDENTITY_ENDPOINT") {
        ways.extend([Auth::ManagedIdentity, Auth::DeveloperTools]);
    } else {
        ways.extend([Auth::DeveloperTools, Auth::ManagedIdentity]);
    }
    ways
}

/// How long the SDK tries by itself: less than a lease lives, for the pump must be back in time to renew it.
pub(super) fn patience() -> OperationOptions {
    let mut throttling = ThrottlingRetryOptions::default();
    throttling.max_retry_count = Some(THROTTLED_TRIES);
    throttling.max_retry_wait_time = Some(THROTTLED);
    let mut options = OperationOptions::default();
    options.throttling_retry_options = Some(throttling);
    options.end_to_end_latency_policy = Some(EndToEndOperationLatencyPolicy::new(READ));
    options
}

/// The same, for a page that holds text which is no UTF-8: it is mended, for it must not stop all that comes after. Not for
/// every page, since looking costs.
pub(super) fn leniency() -> OperationOptions {
    let mut options = patience();
    options.utf8_decoding_mode = Some(Utf8DecodingMode::Lossy);
    options
}

/// Why there is no client.
#[derive(Debug)]
pub(super) enum AccountError {
    /// Nobody vouches for us.
    Login(BoxError),
    /// The account did not answer, or refused.
    Sdk(CosmosError),
}

impl AccountError {
    /// As a reader of a collection sees it.
    pub(super) fn of(self, target: &Target) -> FeedError {
        match self {
            Self::Login(source) => FeedError::Denied {
                collection: target.collection.clone(),
                account: target.account.clone(),
                source,
            },
            Self::Sdk(error) => plain(Fault::from(error), target),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_looked_for_where_the_environment_points() {
        use Auth::{DeveloperTools, ManagedIdentity, WorkloadIdentity};
        assert_eq!(ways(|_| false), [DeveloperTools, ManagedIdentity]);
        assert_eq!(
            ways(|name| name == "IDENTITY_ENDPOINT"),
            [ManagedIdentity, DeveloperTools]
        );
        assert_eq!(
            ways(|name| name == "AZURE_FEDERATED_TOKEN_FILE"),
            [WorkloadIdentity, DeveloperTools, ManagedIdentity]
        );
    }
}
