//! The account: what a client reads first.

use serde_json::json;

use super::Served;
use super::answer::Answer;
use super::asked::Asked;

impl Served {
    pub(super) fn account(&self, asked: &Asked) -> Answer {
        // Clients follow the endpoints that they find here: they must reach them by the name that they used.
        let url = match &asked.host {
            Some(host) if is_loopback(host) => {
                let scheme = self.url.split(':').next().unwrap_or("http");
                format!("{scheme}://{host}/")
            }
            _ => self.url.clone(),
        };
        let location = json!([{"name": "Local", "databaseAccountEndpoint": url}]);
        Answer::json(
            200,
            &json!({
                "_self": "",
                "id": "emulator",
                "_rid": "emulator",
                "media": "//media/",
                "addresses": "//addresses/",
                "_dbs": "//dbs/",
                "writableLocations": location,
                "readableLocations": location,
                "enableMultipleWriteLocations": false,
                "continuousBackupEnabled": false,
                "userReplicationPolicy": {"asyncReplication": false, "minReplicaSetSize": 1, "maxReplicasetSize": 4},
                "userConsistencyPolicy": {"defaultConsistencyLevel": "Session"},
                "systemReplicationPolicy": {"minReplicaSetSize": 1, "maxReplicasetSize": 4},
                "readPolicy": {"primaryReadCoefficient": 1, "secondaryReadCoefficient": 1},
                "queryEngineConfiguration": "{}"
            }),
        )
    }
}

fn is_loopback(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) {
            name
        } else {
            host
        }
    });
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}
