//! Lets the allocation test's functions take the place of the C library's in loaded plugins.

fn main() {
    for symbol in [
        "malloc",
        "calloc",
        "realloc",
        "posix_memalign",
        "aligned_alloc",
        "mmap",
        "mmap64",
        "dlsym",
    ] {
        println!("cargo:rustc-link-arg-tests=-Wl,--export-dynamic-symbol={symbol}");
    }
}
