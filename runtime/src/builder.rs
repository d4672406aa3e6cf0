//! [`Projector`]: a whole program, or a part of one.

use std::fmt;
use std::process::ExitCode;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use projectionist::Linked;
use projectionist::extract::state::States;
use projectionist::registry::{Registry, RegistryError};
use projectionist::verdict::BoxError;
use serde::de::DeserializeOwned;

use crate::cli;
use crate::config::{Config, Sources};
use crate::demo::Demo;
use crate::engine::{Engine, Running, Summary, Until};
use crate::parts::{self, Parts};
use crate::problem::{Problem, Problems, codes};

type Setup = Box<dyn for<'a> FnOnce(&'a mut App) -> LocalBoxFuture<'a, Result<(), BoxError>>>;

/// Makes a whole program of the projections of the named crates, with the command line of
/// `projector --help`.
///
/// It is short for [`Projector::new`]`(`[`link!`](projectionist::link!)`(…)).main()`. With
/// `main! { users; demo = … }` a first `run` writes the documents of that [`Demo`]; `main! { users; setup = … }` runs that
/// [set-up](Projector::setup) first.
///
/// ```no_run
/// projectionist_runtime::main! {}
/// ```
#[macro_export]
macro_rules! main {
    ($($member:ident),* $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::Projector::new($crate::link!($($member),*)).main()
        }
    };
    ($($member:ident),* ; setup = $setup:expr) => {
        fn main() -> ::std::process::ExitCode {
            $crate::Projector::new($crate::link!($($member),*))
                .setup($setup)
                .main()
        }
    };
    ($($member:ident),* ; demo = $demo:expr) => {
        fn main() -> ::std::process::ExitCode {
            $crate::Projector::new($crate::link!($($member),*))
                .demo($demo)
                .main()
        }
    };
}

/// The projections of the linked crates, on their way to running.
pub struct Projector {
    setup: Option<Setup>,
    pub(crate) demo: Option<Demo>,
}

impl Projector {
    /// Takes the projections of the linked crates: `Projector::new(link!(users, orders))`.
    pub fn new(_: Linked) -> Self {
        Self {
            setup: None,
            demo: None,
        }
    }

    /// Adds what runs before the projections are built: it gives states to hooks and reads the
    /// program's own settings. Commands that build nothing, such as `list`, do not run it.
    ///
    /// ```no_run
    /// # use projectionist_runtime::{Projector, link};
    /// # struct Prices;
    /// # #[derive(serde::Deserialize)] struct Settings { currency: String }
    /// let projector = Projector::new(link!()).setup(async |app| {
    ///     let settings: Settings = app.settings("prices")?;
    ///     app.state(Prices);
    ///     Ok(())
    /// });
    /// ```
    #[must_use]
    pub fn setup<F>(mut self, setup: F) -> Self
    where
        F: AsyncFnOnce(&mut App) -> Result<(), BoxError> + 'static,
    {
        self.setup = Some(Box::new(move |app| Box::pin(setup(app))));
        self
    }

    /// Adds documents for a first look: a plain `run` on an empty data directory writes them.
    #[must_use]
    pub fn demo(mut self, demo: Demo) -> Self {
        self.demo = Some(demo);
        self
    }

    /// Runs the command line.
    pub fn main(self) -> ExitCode {
        cli::main(self)
    }

    /// Starts the projections inside an existing program, which owns the runtime, the signals and
    /// the log. Settings come from `projector.toml` and the environment.
    ///
    /// # Errors
    ///
    /// All problems at once. Nothing runs then.
    pub async fn start(self) -> Result<Handle, Problems> {
        let registry = registry()?;
        let config = Config::load(&Sources::of_process(None), &registry)?;
        self.start_with(config, &registry).await
    }

    async fn start_with(self, config: Config, registry: &Registry) -> Result<Handle, Problems> {
        let defs: Vec<_> = registry.iter().collect();
        parts::demands(&config, &defs)?;
        let config = Arc::new(config);
        let states = self.states(Arc::clone(&config)).await?;
        let mut parts = Parts::open(&config, &defs, "a service").await?;
        let setup = parts.setup_to_run(&config, &defs, states)?;
        let ready = Engine::prepare(setup).await?;
        for notice in ready.notices() {
            tracing::info!("{notice}");
        }
        let running = ready.start(Until::Stopped);
        let (displaced, stopper) = (parts.displaced(), running.stopper());
        tokio::spawn(async move {
            tokio::select! {
                problem = displaced => tracing::error!(code = problem.code, "{problem}: {}", problem.help),
                () = stopper.cancelled() => {}
            }
            stopper.cancel();
        });
        Ok(Handle {
            running,
            _parts: parts,
        })
    }

    /// Runs the program's own set-up.
    pub(crate) async fn states(self, config: Arc<Config>) -> Result<States, Problem> {
        let mut app = App {
            states: States::default(),
            config,
        };
        if let Some(setup) = self.setup {
            setup(&mut app).await.map_err(setup_problem)?;
        }
        Ok(app.states)
    }
}

impl fmt::Debug for Projector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Projector").finish_non_exhaustive()
    }
}

fn setup_problem(error: BoxError) -> Problem {
    match error.downcast::<Problem>() {
        Ok(problem) => *problem,
        Err(error) => Problem::new(
            codes::SETUP_FAILED,
            "the program's own set-up failed",
            "Mend it and start again; nothing was read.",
        )
        .because(error),
    }
}

/// The linked projections.
pub(crate) fn registry() -> Result<Registry, Problems> {
    let registry = Registry::collect().map_err(|errors| {
        let problems = errors.into_iter().map(|error| {
            let (code, help) = match &error {
                RegistryError::Duplicate { .. } => (
                    codes::DUPLICATE_PROJECTION,
                    "Rename all but one; checkpoints are filed under the name.",
                ),
                _ => (
                    codes::NO_PROJECTION,
                    "Name the crates that declare projections: `main! { users, orders }` or `link!(users, orders)`.",
                ),
            };
            Problem::new(code, error.to_string(), help)
        });
        Problems(problems.collect())
    })?;
    // The attribute refuses an empty name; a projection written by hand can have one.
    let nameless: Vec<_> = registry
        .iter()
        .filter(|def| def.spec.name.is_empty())
        .map(|def| {
            Problem::new(
                codes::EMPTY_NAME,
                format!("a projection has no name ({})", def.location),
                "Give it one; checkpoints are filed under the name.",
            )
        })
        .collect();
    if nameless.is_empty() {
        Ok(registry)
    } else {
        Err(Problems(nameless))
    }
}

/// What the program's set-up works on.
#[derive(Debug)]
pub struct App {
    states: States,
    config: Arc<Config>,
}

impl App {
    /// Shares a value with hooks, which take it as `State<T>`. A second one of a type replaces the first.
    pub fn state<T: Send + Sync + 'static>(&mut self, value: T) -> &mut Self {
        self.states.insert(value);
        self
    }

    /// The program's own settings, `[app.NAME]`.
    ///
    /// # Errors
    ///
    /// If they do not fit the type.
    pub fn settings<T: DeserializeOwned>(&self, name: &str) -> Result<T, Problem> {
        self.config.user(name)
    }
}

/// Projections that run inside an existing program.
#[derive(Debug)]
pub struct Handle {
    running: Running,
    /// Holds the lock of the instance.
    _parts: Parts,
}

impl Handle {
    /// The pumps: what they do, and whether they have caught up.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Stops reading, finishes what is in hand, commits, and lets go.
    pub async fn stop(self) -> Summary {
        self.running.stop();
        self.running.finished().await
    }
}
