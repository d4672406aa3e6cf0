//! `run`: start positions first (I6), then the demonstration if there is one to write, then reading until
//! a signal or, with `--once`, the end of the feed.

use std::sync::Arc;

use projectionist::registry::{ProjectionDef, Registry};

use super::arguments;
use super::exit::Exit;
use super::output::note;
use super::seed::{Seed, show};
use super::signals::Signals;
use crate::builder::Projector;
use crate::config::{Config, unknown_projection};
use crate::engine::{Engine, Ready, Running, Summary, Until};
use crate::parts::{self, Parts};
use crate::problem::{Problem, Problems};
use crate::store::Store;

pub(crate) async fn run(
    mut projector: Projector,
    config: Config,
    registry: &Registry,
    arguments: &arguments::Run,
) -> Result<Exit, Problems> {
    let mut signals = Signals::listen()?;
    let defs = select(registry, &arguments.only)?;
    parts::demands(&config, &defs)?;
    let config = Arc::new(config);
    let demo = projector.demo.take().filter(|_| arguments.only.is_empty());
    let prepare = async {
        let states = projector.states(Arc::clone(&config)).await?;
        let mut parts = Parts::open(&config, &defs, "run").await?;
        let setup = parts.setup_to_run(&config, &defs, states)?;
        let ready = Engine::prepare(setup).await?;
        Ok::<_, Problems>((parts, ready))
    };
    let (parts, ready) = tokio::select! {
        prepared = prepare => prepared?,
        // Nothing was read yet, so there is nothing to finish.
        signal = signals.next() => return Ok(unfinished(arguments.once, signal)),
    };
    introduce(&ready, &parts, &config, &defs);
    // Where something was committed already, an empty journal is one that lost its changes (P1), or the read model is
    // another collection's: whatever is written now must not hide the one, nor mix with the other.
    let standing = parts.store().checkpoints().await;
    let is_new = standing.is_ok_and(|all| all.iter().all(|checkpoint| checkpoint.version == 0));
    let seed = match demo {
        Some(demo) if is_new && parts.is_unwritten().await? => {
            Some(Seed::of(demo, &config.data_dir))
        }
        _ => None,
    };
    if seed.is_none() && Seed::is_unfinished(&config.data_dir) {
        note(&format!(
            "note: the demonstration was interrupted and is not complete; to see all of it, stop, remove {}, and start again\n",
            config.data_dir.display()
        ));
    }
    let run = Run {
        parts,
        config,
        signals,
    };
    if arguments.once {
        run.once(ready, seed).await
    } else {
        run.on(ready, seed).await
    }
}

/// The projections to run, checked against those that there are.
fn select(registry: &Registry, only: &[String]) -> Result<Vec<&'static ProjectionDef>, Problems> {
    let unknown: Vec<_> = only
        .iter()
        .filter(|name| !registry.iter().any(|def| def.spec.name == **name))
        .map(|name| unknown_projection(name, "flag --only", registry))
        .collect();
    if !unknown.is_empty() {
        return Err(Problems(unknown));
    }
    Ok(registry
        .iter()
        .filter(|def| only.is_empty() || only.iter().any(|name| name == def.spec.name))
        .collect())
}

/// Says what runs, and what a person should know of it.
fn introduce(ready: &Ready, parts: &Parts, config: &Config, defs: &[&ProjectionDef]) {
    let names: Vec<_> = defs.iter().map(|def| def.spec.name).collect();
    note(&format!(
        "instance {} runs {} on {}\n",
        parts.instance().name,
        names.join(", "),
        config.data_dir.display()
    ));
    for notice in ready.notices() {
        note(&format!("note: {notice}\n"));
    }
}

struct Run {
    parts: Parts,
    config: Arc<Config>,
    signals: Signals,
}

impl Run {
    /// Writes the demonstration, then applies what there is, and ends.
    async fn once(mut self, ready: Ready, seed: Option<Seed>) -> Result<Exit, Problems> {
        let store = self.parts.store();
        let mut tables = Vec::new();
        if let Some(seed) = seed {
            tables.clone_from(&seed.tables);
            tokio::select! {
                written = seed.write(&self.parts, None) => written?,
                signal = self.signals.next() => return Ok(Exit::Signal(signal)),
            }
        }
        let until = Until::EndOfFeed {
            attempts: self.config.once_attempts,
        };
        let running = ready.start(until);
        let Finished {
            summary,
            stopped,
            aborted,
        } = finish(running, &mut self.signals, self.parts.displaced()).await;
        // A job that was stopped has not done what it should, however orderly.
        conclude(summary, aborted.or(stopped), &*store, &tables).await
    }

    /// Goes on until a signal.
    async fn on(mut self, ready: Ready, seed: Option<Seed>) -> Result<Exit, Problems> {
        let store = self.parts.store();
        let running = ready.start(Until::Stopped);
        if let Some(seed) = seed {
            let tables = seed.tables.clone();
            tokio::select! {
                written = seed.write(&self.parts, Some(&running)) => {
                    written?;
                    show(&*store, &tables).await?;
                }
                _ = self.signals.next() => running.stop(),
            }
        }
        if !running.stopper().is_cancelled() {
            note("listening for changes; stop with Ctrl-C\n");
        }
        let Finished {
            summary, aborted, ..
        } = finish(running, &mut self.signals, self.parts.displaced()).await;
        conclude(summary, aborted, &*store, &[]).await
    }
}

/// What a signal before the first read comes to.
const fn unfinished(once: bool, signal: u8) -> Exit {
    if once { Exit::Signal(signal) } else { Exit::Ok }
}

/// How the pumps ended.
struct Finished {
    summary: Summary,
    /// The signal that stopped them, if one did.
    stopped: Option<u8>,
    /// The signal that aborted them, if one did.
    aborted: Option<u8>,
}

/// Waits for the pumps' end. The first signal stops them, a second one aborts them; so does the loss of
/// the data directory, which is a problem.
async fn finish(
    running: Running,
    signals: &mut Signals,
    displaced: impl Future<Output = Problem>,
) -> Finished {
    let mut first = None;
    let mut lost = None;
    let stopper = running.stopper();
    let aborter = running.aborter();
    let finished = running.finished();
    tokio::pin!(finished, displaced);
    loop {
        tokio::select! {
            mut summary = &mut finished => {
                summary.failed.extend(lost);
                return Finished { summary, stopped: first, aborted: None };
            }
            problem = &mut displaced, if lost.is_none() => {
                stopper.cancel();
                lost = Some(problem);
            }
            signal = signals.next() => {
                if stopper.is_cancelled() {
                    aborter.cancel();
                    return Finished { summary: finished.await, stopped: first, aborted: Some(signal) };
                }
                first = Some(signal);
                note("stopping: finishing what is in hand; a second signal ends at once\n");
                stopper.cancel();
            }
        }
    }
}

async fn conclude(
    summary: Summary,
    signal: Option<u8>,
    store: &dyn Store,
    tables: &[(String, String)],
) -> Result<Exit, Problems> {
    let Summary {
        applied, letters, ..
    } = summary;
    let s = |count| if count == 1 { "" } else { "s" };
    note(&format!(
        "{applied} change{} applied, {letters} dead letter{}\n",
        s(applied),
        s(letters)
    ));
    let exit = match signal {
        Some(signal) => Ok(Exit::Signal(signal)),
        None if summary.failed.is_empty() => show(store, tables).await.map(|()| Exit::Ok),
        None => Err(Problems(summary.failed)),
    };
    store.close().await;
    exit
}
