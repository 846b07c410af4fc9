//! The C contract between the guild host and its plugins.
