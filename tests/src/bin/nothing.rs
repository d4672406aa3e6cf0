//! A program that forgot its projections.

projectionist_runtime::main! {}
