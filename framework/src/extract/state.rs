//! Values that the program shares with its hooks.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::{Extract, ExtractError};
use crate::hook::HookCx;

/// Names a state type.
#[derive(Clone, Copy)]
pub struct StateKey(fn() -> (TypeId, &'static str));

impl StateKey {
    /// The key of `T`.
    pub const fn of<T: 'static>() -> Self {
        Self(|| (TypeId::of::<T>(), type_name::<T>()))
    }

    /// The type's name, for people.
    pub fn name(self) -> &'static str {
        (self.0)().1
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The values that the program shares with its hooks, one for each type.
#[derive(Clone, Default)]
pub struct States(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl States {
    /// Adds a value. A second one of the same type replaces the first.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.0.insert(TypeId::of::<T>(), Arc::new(value));
    }

    /// Whether there is a value for `key`.
    pub fn has(&self, key: StateKey) -> bool {
        self.0.contains_key(&(key.0)().0)
    }

    /// The value of type `T`.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.get(&TypeId::of::<T>()).cloned()?.downcast().ok()
    }
}

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "States({})", self.0.len())
    }
}

/// A value shared by the program: an HTTP client, a price list.
#[derive(Clone, Debug)]
pub struct State<T>(pub Arc<T>);

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Send + Sync + 'static> Extract<'_> for State<T> {
    const STATE: Option<StateKey> = Some(StateKey::of::<T>());

    fn extract(cx: &mut HookCx<'_>) -> Result<Self, ExtractError> {
        cx.states()
            .get()
            .map(Self)
            .ok_or(ExtractError::State(type_name::<T>()))
    }
}
