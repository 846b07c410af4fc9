//! Gives the library its name in the dynamic table, which crash records and debuggers show.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libguild_cpu.so");
    // Every symbol must be found at link time, not at the first call.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,defs,-z,now,-z,relro,-z,noexecstack");
}
