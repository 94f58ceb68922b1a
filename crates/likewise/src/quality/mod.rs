//! How good a grouping is, and how alike two are.
