//! Checks, plans and binds the graph that a runner describes.
