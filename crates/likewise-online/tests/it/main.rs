//! Thread-ranks that vote, cluster and merge.

mod leads;
mod states;
