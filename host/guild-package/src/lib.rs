//! Bundles, manifests, trust, verification and the package store.
