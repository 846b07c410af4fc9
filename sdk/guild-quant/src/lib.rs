//! Quantised block formats: scalar decode and activation encode.
