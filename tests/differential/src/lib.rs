//! Nothing is here: the tests are all there is.
