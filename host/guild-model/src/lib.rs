//! Model files and tokenizers.
