//! `dev serve`: the local collections, served to any Cosmos DB SDK.

use projectionist_emulator::gateway::{Gateway, GatewayOptions, WELL_KNOWN_KEY};

use super::arguments::Serve;
use super::exit::Exit;
use super::output::{note, print};
use super::signals::Signals;
use crate::config::Config;
use crate::local::Local;
use crate::problem::{Problem, Problems, codes};

pub(crate) async fn serve(config: &Config, serve: &Serve) -> Result<Exit, Problems> {
    let mut signals = Signals::listen()?;
    let local = Local::open(&config.data_dir, "dev serve")?;
    local.ensure(config)?;
    // The other `dev` commands reach the collections through their owner, which this process now is.
    let _server = crate::local::serve(&local, &config.data_dir).await?;
    let options = GatewayOptions {
        https: serve.https.then(|| config.data_dir.clone()),
        control: serve.control,
        ..GatewayOptions::new(serve.port)
    };
    let gateway = Gateway::start(local.emulator(), options)
        .await
        .map_err(|error| {
            Problem::new(
                codes::GATEWAY_FAILED,
                format!(
                    "the gateway cannot listen on port {} of 127.0.0.1",
                    serve.port
                ),
                "Stop what listens there, or choose another port: `--port 0` takes any.",
            )
            .because(error)
        })?;
    print(&format!("listening on {}\n", gateway.url()))?;
    note(&format!("account key: {WELL_KNOWN_KEY}\n"));
    if let Some(certificate) = gateway.certificate() {
        note(&format!("certificate: {}\n", certificate.display()));
    }
    signals.next().await;
    Ok(Exit::Ok)
}
