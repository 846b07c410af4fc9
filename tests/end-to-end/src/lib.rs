//! The whole program on committed tiny models.
