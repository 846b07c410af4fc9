//! Every core operation, scalar and safe.
