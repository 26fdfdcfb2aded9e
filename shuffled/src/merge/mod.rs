//! Merges the segments of one reduce partition for a reducer of this node (docs/adr/0021).

pub mod blocks;
pub mod codec;
pub mod fetch;
pub mod inflate;
pub mod memory;
pub mod order;
pub mod output;
pub mod records;
pub mod serve;
pub mod tournament;
pub mod wire;

#[cfg(test)]
mod merge_tests;
#[cfg(test)]
mod compressed_tests;
