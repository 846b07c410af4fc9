//! Sessions, state, thread pool and sampling.
