//! The whole program: the example's projections, and documents for a first look.

mod demo;

projectionist_runtime::main! { cosmicworks; demo = demo::demo() }
