//! CPU kernels for AVX2 and AVX-512, exact class.
