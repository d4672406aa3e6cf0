//! Exit codes, the same for every command.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what it should.
    Ok,
    /// It failed.
    Failed,
    /// A check found a difference.
    Difference,
    /// There are dead letters.
    Letters,
    /// It was ended by a second signal of this number.
    Signal(u8),
}

/// Told by `--help`. 2 is what the parser of the command line uses.
pub(crate) const HELP: &str = "\
Exit codes:
  0    ok
  1    failed; stderr says why
  2    the command line is wrong
  3    a check found a difference
  4    dead letters exist (`dead-letters list`)
  130  ended by SIGINT before its work was done: `run --once` by the first, `run` by a
       second; 143 by SIGTERM

Settings come from defaults, projector.toml, the environment (PROJECTOR_*) and flags, in this
order; `config show` prints each with its origin. Data goes to stdout, everything else to stderr.";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Ok => 0,
            Exit::Failed => 1,
            Exit::Difference => 3,
            Exit::Letters => 4,
            Exit::Signal(number) => 128 + number,
        })
    }
}
