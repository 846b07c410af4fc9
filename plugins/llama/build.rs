//! Compiles `llama.c` with an entry of its own name, so that it can be linked beside other plugins.

fn main() {
    println!("cargo::rerun-if-changed=llama.c");
    println!("cargo::rerun-if-changed=../../include/guild");
    cc::Build::new()
        .file("llama.c")
        .include("../../include")
        .define("GUILD_PLUGIN_ENTRY", "guild_llama_plugin_entry_v1")
        .std("c99")
        .flag("-fvisibility=hidden")
        .flag("-ffp-contract=off")
        .warnings_into_errors(true)
        .compile("guild_llama");
    println!("cargo::rustc-link-lib=m");
}
