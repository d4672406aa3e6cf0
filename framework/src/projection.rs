//! What `#[projection(…)]` implements, and how the runtime sees it.

use std::future::Ready;
use std::marker::PhantomData;

use crate::change::Document;
use crate::extract::state::States;
use crate::extract::tx::BoxFuture;
use crate::filter::Condition;
use crate::hook::{Answer, Hook, HookCx, Hooks};
use crate::needs::Mode;
use crate::page::{Outcome, Page};
use crate::row::{Rows, Table};
use crate::verdict::BoxError;

/// Where a projection begins to read when it has no checkpoint yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Start {
    /// With what is written after the projector's first start.
    Now,
    /// With the oldest change there is.
    Beginning,
    /// With what was written at this time or later: seconds since 1970.
    At(i64),
}

/// DDL to run at start, in one transaction. It must be repeatable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ddl {
    /// For SQLite.
    pub sqlite: Option<&'static str>,
    /// For PostgreSQL.
    pub postgres: Option<&'static str>,
}

/// What `#[projection(…)]` says.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The stable name, under which checkpoints are filed.
    pub name: &'static str,
    /// The logical name of the collection that feeds it.
    pub collection: &'static str,
    /// `only(…)`: documents of interest.
    pub only: &'static [Condition],
    /// `soft_delete(…)`: the mark that makes a write a delete.
    pub soft_delete: Option<Condition>,
    /// `start = …`, if written.
    pub start: Option<Start>,
    /// `batch = …`: the page size, if written.
    pub batch: Option<u32>,
    /// `ddl = …`, if written.
    pub ddl: Option<Ddl>,
    /// `table = …`: the projection is the rows of this table.
    pub table: Option<Table>,
}

/// A declared projection. Implemented by `#[projection(…)]`, not by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has hooks but isn't a projection",
    label = "hook on a type without `#[projection(…)]`",
    note = "add `#[projection(collection = \"…\", name = \"…\")]` to the struct"
)]
pub trait Projection: Sized + Send + Sync + 'static {
    /// What its attribute says.
    const SPEC: Spec;
    /// Its hooks.
    const HOOKS: Hooks;
    /// The feed mode that its hooks need, or the one written out.
    const MODE: Mode;

    /// Makes the one instance.
    ///
    /// # Errors
    ///
    /// Those of `init`.
    fn build(states: &States) -> Result<Self, BoxError>;

    /// Reads a document's row and adds it to the page's. Only a row projection's is called.
    ///
    /// # Errors
    ///
    /// If the document does not decode.
    fn put_row(document: &Document, rows: &mut Rows) -> Result<(), serde_json::Error> {
        let _ = (document, rows);
        unreachable!("`{}` has no table", Self::SPEC.name)
    }

    /// Applies a page: one boxed future. A row projection has no instance.
    fn apply_page<'a>(this: Option<&'a Self>, page: Page<'a>) -> BoxFuture<'a, Outcome>;
}

/// A projection whose type is forgotten, as the runtime sees it.
pub trait DynProjection: Send + Sync {
    /// Applies a page.
    fn apply_page<'a>(&'a self, page: Page<'a>) -> BoxFuture<'a, Outcome>;

    /// Reads a document's row and adds it to the page's.
    ///
    /// # Errors
    ///
    /// If the document does not decode.
    fn put_row(&self, document: &Document, rows: &mut Rows) -> Result<(), serde_json::Error> {
        let _ = (document, rows);
        unreachable!("it has no table")
    }
}

impl<P: Projection> DynProjection for P {
    fn apply_page<'a>(&'a self, page: Page<'a>) -> BoxFuture<'a, Outcome> {
        P::apply_page(Some(self), page)
    }

    fn put_row(&self, document: &Document, rows: &mut Rows) -> Result<(), serde_json::Error> {
        P::put_row(document, rows)
    }
}

/// A row projection: the type alone, for each instance of it is a row.
pub(crate) struct RowWise<P>(pub(crate) PhantomData<fn() -> P>);

impl<P: Projection> DynProjection for RowWise<P> {
    fn apply_page<'a>(&'a self, page: Page<'a>) -> BoxFuture<'a, Outcome> {
        P::apply_page(None, page)
    }

    fn put_row(&self, document: &Document, rows: &mut Rows) -> Result<(), serde_json::Error> {
        P::put_row(document, rows)
    }
}

/// The hooks of a projection that declares none. Each item is shadowed by the inherent item that a
/// hook's attribute adds: that is how attributes on methods and on the struct find each other.
#[doc(hidden)]
#[expect(non_upper_case_globals, reason = "named after the attributes")]
pub trait NoHooks: Projection {
    const __projection_on_upsert: Option<Hook> = None;
    const __projection_on_create: Option<Hook> = None;
    const __projection_on_replace: Option<Hook> = None;
    const __projection_on_delete: Option<Hook> = None;
    const __projection_on_expire: Option<Hook> = None;

    // Whether it has what people take for a hook's attribute.
    const __projection_on_update: bool = false;
    const __projection_on_insert: bool = false;
    const __projection_on_write: bool = false;
    const __projection_on_change: bool = false;
    const __projection_on_remove: bool = false;

    fn __a_projection_has_one_on_upsert(_: Option<&Self>, cx: HookCx<'_>) -> Uncalled {
        uncalled(&cx)
    }

    fn __a_projection_has_one_on_create(_: Option<&Self>, cx: HookCx<'_>) -> Uncalled {
        uncalled(&cx)
    }

    fn __a_projection_has_one_on_replace(_: Option<&Self>, cx: HookCx<'_>) -> Uncalled {
        uncalled(&cx)
    }

    fn __a_projection_has_one_on_delete(_: Option<&Self>, cx: HookCx<'_>) -> Uncalled {
        uncalled(&cx)
    }

    fn __a_projection_has_one_on_expire(_: Option<&Self>, cx: HookCx<'_>) -> Uncalled {
        uncalled(&cx)
    }
}

impl<P: Projection> NoHooks for P {}

/// The call of a hook that is not declared.
#[doc(hidden)]
pub type Uncalled = Ready<Answer>;

/// A page names only hooks that are declared, so this is never reached.
fn uncalled(cx: &HookCx<'_>) -> Uncalled {
    unreachable!("`{}` has no such hook", cx.info().projection)
}
