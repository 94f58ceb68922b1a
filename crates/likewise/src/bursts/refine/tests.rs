//! Small runs whose phases are known.
