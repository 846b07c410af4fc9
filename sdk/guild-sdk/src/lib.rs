//! Traits, export macro and C shims for plugin authors.
