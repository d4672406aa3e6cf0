//! The whole, driven through its public interfaces: programs as processes, the engine over the emulator.

#[cfg(test)]
mod acceptance;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod database;
#[cfg(test)]
mod gateway;
#[cfg(test)]
mod hung;
#[cfg(test)]
mod postgres;
#[cfg(test)]
mod program;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod semantics;
#[cfg(test)]
mod splits;
