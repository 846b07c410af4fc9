//! Compares the ABI types with the frozen snapshot.
