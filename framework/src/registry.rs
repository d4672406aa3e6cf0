//! Every projection that is linked into the program.

#[cfg(test)]
mod tests;

use std::fmt;
use std::marker::PhantomData;

use crate::change::RawChange;
use crate::extract::state::{StateKey, States};
use crate::hook::Hooks;
use crate::needs::{Kind, Mode};
use crate::page;
use crate::projection::{DynProjection, Projection, RowWise, Spec, Start};
use crate::verdict::BoxError;

/// Where a projection is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "they say themselves")]
pub struct Location {
    pub file: &'static str,
    pub line: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A projection before it is built.
pub struct ProjectionDef {
    /// What its attribute says.
    pub spec: &'static Spec,
    /// Its hooks.
    pub hooks: &'static Hooks,
    /// Its mode.
    pub mode: Mode,
    /// Where it is declared.
    pub location: Location,
    build: fn(&States) -> Result<Box<dyn DynProjection>, BoxError>,
}

inventory::collect!(ProjectionDef);

impl ProjectionDef {
    /// Describes `P`, declared at `location`.
    pub const fn of<P: Projection>(location: Location) -> Self {
        Self {
            spec: const { &P::SPEC },
            hooks: const { &P::HOOKS },
            mode: P::MODE,
            location,
            build: if P::SPEC.table.is_some() {
                |_| Ok(Box::new(RowWise::<P>(PhantomData)))
            } else {
                |states| Ok(Box::new(P::build(states)?))
            },
        }
    }

    /// Makes the one instance.
    ///
    /// # Errors
    ///
    /// Those of `init`.
    pub fn build(&self, states: &States) -> Result<Box<dyn DynProjection>, BoxError> {
        (self.build)(states)
    }

    /// Where it begins without a checkpoint, as far as the declaration says: rows mirror all of a collection, hooks see what
    /// comes. An all-versions feed has no beginning.
    pub fn start(&self) -> Start {
        let all = self.spec.table.is_some() && self.mode == Mode::LatestVersion;
        let default = if all { Start::Beginning } else { Start::Now };
        self.spec.start.unwrap_or(default)
    }

    /// The states that its hooks look up, with the hooks' names.
    pub fn states(&self) -> impl Iterator<Item = (&'static str, StateKey)> {
        self.hooks
            .iter()
            .flat_map(|(_, hook)| hook.states.iter().flatten().map(|key| (hook.name, *key)))
    }

    /// The method that a change goes to. None: no hook wants it, or its document cannot be read.
    pub fn hook_for(&self, change: &RawChange) -> Option<&'static str> {
        page::hook_for(self.spec, self.hooks, change)
    }

    /// Its hooks as `(kind, method)`.
    pub fn hook_names(&self) -> impl Iterator<Item = (Kind, &'static str)> {
        self.hooks.iter().map(|(kind, hook)| (kind, hook.name))
    }
}

impl fmt::Debug for ProjectionDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProjectionDef")
            .field("name", &self.spec.name)
            .finish_non_exhaustive()
    }
}

/// The linked projections, sorted by name. Names are unique.
#[derive(Clone, Debug)]
pub struct Registry(Vec<&'static ProjectionDef>);

/// Why the linked projections cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Nothing is linked in, or nothing is declared.
    #[error("no projection is registered")]
    Empty,
    /// Several projections claim one name.
    #[error("projection `{name}` is declared {} times: {}", .locations.len(), Self::list(.locations))]
    Duplicate {
        /// The name.
        name: &'static str,
        /// All places that declare it.
        locations: Vec<Location>,
    },
}

impl RegistryError {
    fn list(locations: &[Location]) -> String {
        let places: Vec<_> = locations.iter().map(ToString::to_string).collect();
        places.join(", ")
    }
}

impl Registry {
    /// Finds everything that is linked in.
    ///
    /// # Errors
    ///
    /// All problems at once.
    pub fn collect() -> Result<Self, Vec<RegistryError>> {
        Self::from_defs(inventory::iter::<ProjectionDef>)
    }

    /// A registry of these projections only.
    ///
    /// # Errors
    ///
    /// All problems at once.
    pub fn from_defs(
        defs: impl IntoIterator<Item = &'static ProjectionDef>,
    ) -> Result<Self, Vec<RegistryError>> {
        let mut defs: Vec<_> = defs.into_iter().collect();
        // The linker's order is no order at all.
        defs.sort_by_key(|def| (def.spec.name, def.location));
        if defs.is_empty() {
            return Err(vec![RegistryError::Empty]);
        }
        let duplicates: Vec<_> = defs
            .chunk_by(|a, b| a.spec.name == b.spec.name)
            .filter(|same| same.len() > 1)
            .map(|same| RegistryError::Duplicate {
                name: same[0].spec.name,
                locations: same.iter().map(|def| def.location).collect(),
            })
            .collect();
        if duplicates.is_empty() {
            Ok(Self(defs))
        } else {
            Err(duplicates)
        }
    }

    /// The projections, sorted by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'static ProjectionDef> {
        self.0.iter().copied()
    }
}
