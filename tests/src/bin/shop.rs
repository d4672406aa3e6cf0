//! The example's projections as a program, without its demonstration.

projectionist_runtime::main! { cosmicworks }
