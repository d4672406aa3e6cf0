//! The ways through a document to the fields of a row, as a tree of names.

use proc_macro2::TokenStream;
use quote::quote;

/// What lies behind a name, or behind the document as a whole.
#[derive(Default)]
pub(super) struct Way {
    /// The fields that are read here.
    slots: Vec<usize>,
    inside: Vec<(String, Self)>,
}

impl Way {
    /// The ways to all fields.
    pub(super) fn of(paths: &[Vec<String>]) -> Self {
        let mut root = Self::default();
        for (slot, path) in paths.iter().enumerate() {
            let mut way = &mut root;
            for name in path {
                let at = way.inside.iter().position(|(known, _)| known == name);
                let at = at.unwrap_or_else(|| {
                    way.inside.push((name.clone(), Self::default()));
                    way.inside.len() - 1
                });
                way = &mut way.inside[at].1;
            }
            way.slots.push(slot);
        }
        root
    }

    /// What lies inside, as the framework's constants.
    pub(super) fn nodes(&self) -> TokenStream {
        let nodes = self.inside.iter().map(|(name, way)| {
            let (slots, inside) = (&way.slots, way.nodes());
            quote!(__p::Node { name: #name, slots: &[#(#slots),*], inside: #inside })
        });
        quote!(&[#(#nodes),*])
    }
}
