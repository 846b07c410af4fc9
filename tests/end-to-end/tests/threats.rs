//! Rows of the threat table that only the whole program can show: 37, 38, 75 and 80.

use guild_cli::args::definition;
use guild_cli::config::Definition;
use guild_demo::seed::ThrowAwayKey;
use guild_end_to_end::{CPU, QWEN, SMALL_BF16, Site, file};
use guild_hostile::writer;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Exit codes, as `docs/cli.md` lists them.
const KEY_UNTRUSTED: i32 = 12;
const KEY_REVOKED: i32 = 13;
const RUN: [&str; 5] = ["--prompt-ids", "1,2", "-n", "2", "--external-only"];

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn words(output: &Output) -> String {
    let parts = [&output.stdout, &output.stderr];
    parts
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .concat()
}

/// Path and content of all files of the store.
fn store(site: &Site) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![site.guild.data_dir().join("kernels")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => drop(files.insert(path.clone(), std::fs::read(&path).unwrap())),
            }
        }
    }
    files
}

/// A bundle that is whole, and signed by a key that nobody trusts.
fn strangers_bundle(site: &Site) -> String {
    let folder = site.path("stranger");
    std::fs::create_dir(&folder).unwrap();
    let stranger = ThrowAwayKey::new(&site.guild, &folder).unwrap();
    let (staged, bundle) = (text(&site.stage(QWEN)), text(&folder.join("x.gkernel")));
    let seed = text(&stranger.seed);
    let key = ["--key-id", &stranger.id, "--seed-file", &seed];
    let sign = ["kernel", "sign", &staged, "--bundle", &bundle];
    site.guild.json(&[&sign[..], &key].concat()).unwrap();
    bundle
}

/// In a network namespace of its own a process has no network at all, not even loopback.
#[test]
fn row_37_nothing_asks_a_server() {
    let alone = |program: &str, arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command
            .args(["--net", "--map-root-user", program])
            .args(arguments);
        command.output()
    };
    if !alone("true", &[]).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this machine gives no network namespace");
        return;
    }
    let site = Site::new();
    let (cpu, qwen) = (site.bundle(CPU), site.bundle(QWEN));
    let (data, model) = (text(site.guild.data_dir()), file(SMALL_BF16));
    let guild = text(site.guild.binary());
    for line in [
        &["kernel", "verify", &cpu][..],
        &["kernel", "install", &cpu],
        &["kernel", "install", &qwen],
        &["kernel", "disable", QWEN.0],
        &["kernel", "rollback"],
        &["kernel", "outdated", &data],
        &["kernel", "fsck"],
        &[&["run", &model], &RUN[..]].concat(),
    ] {
        let arguments = [&["--data-dir", data.as_str()], line].concat();
        let output = alone(&guild, &arguments).unwrap();
        assert!(output.status.success(), "{line:?}: {}", words(&output));
    }
}

/// Every variable that guild knows, and some that it doesn't: names that other systems have for it, and some that sound
/// as if.
fn variables() -> Vec<String> {
    let settings = Definition::of(&definition());
    let options = settings.options.into_iter();
    let known = options.map(|option| option.variable.clone());
    let others = [
        "GUILD_INSECURE",
        "GUILD_SKIP_VERIFY",
        "GUILD_NO_VERIFY",
        "GUILD_ALLOW_UNSIGNED",
        "GUILD_TRUST_ALL",
        "GUILD_DEV",
        "GUILD_DEBUG",
        "GUILD_UNSAFE",
        "LOCAL_KERNELS",
        "GGML_BACKEND_PATH",
        "UV_INSECURE_NO_ZIP_VALIDATION",
    ];
    known.chain(others.map(str::to_owned)).collect()
}

/// The command ends with `refusal`, and so it does under every variable; the store stays as it is.
#[track_caller]
fn is_refused_under_every_variable(site: &Site, line: &[&str], refusal: i32) {
    let before = store(site);
    let run = |variable: Option<&str>| {
        let mut command = site.guild.command(line);
        // Some name a file to write.
        command.current_dir(site.path(""));
        command.envs(variable.map(|name| (name, "1")));
        command.output().unwrap()
    };
    let plain = run(None);
    assert_eq!(plain.status.code(), Some(refusal), "{}", words(&plain));
    let mut refused = 0;
    for name in variables() {
        // Another place of the store is a setting, not a check.
        if ["GUILD_DATA_DIR", "GUILD_MACHINE"].contains(&name.as_str()) {
            continue;
        }
        let output = run(Some(&name));
        let code = output.status.code();
        // A value that the option doesn't take is a mistake of usage.
        assert!(
            code == Some(refusal) || code == Some(2),
            "{line:?}: {name}: {code:?}: {}",
            words(&output)
        );
        refused += usize::from(code == Some(refusal));
    }
    assert!(refused > 100, "{line:?}: {refused} variables");
    assert!(store(site) == before, "{line:?}: the store changed");
}

#[test]
fn row_38_no_variable_switches_a_check_off_at_install() {
    let site = Site::new();
    let bundle = strangers_bundle(&site);
    is_refused_under_every_variable(&site, &["kernel", "install", &bundle], KEY_UNTRUSTED);
}

/// A version whose key was withdrawn since is neither enabled nor loaded.
#[test]
fn row_38_no_variable_switches_a_check_off_at_enable_or_load() {
    let site = Site::with(&[CPU, QWEN]);
    site.guild.json(&["kernel", "disable", QWEN.0]).unwrap();
    let revoke = ["kernel", "trust", "revoke", &site.key.id, "--compromised"];
    site.guild.json(&revoke).unwrap();
    is_refused_under_every_variable(&site, &["kernel", "enable", QWEN.0], KEY_REVOKED);
    let model = file(SMALL_BF16);
    let run = ["run", &model, "--prompt-ids", "1,2", "-n", "2"];
    is_refused_under_every_variable(&site, &run, KEY_REVOKED);
}

/// What a person agrees to is said each time, on the command line.
#[test]
fn row_38_what_is_agreed_to_is_no_setting() {
    let settings = Definition::of(&definition());
    for option in [
        "allow-downgrade",
        "accept-new-publisher",
        "i-understand",
        "no-passphrase",
        "test-identity",
    ] {
        let is_setting = settings
            .options
            .iter()
            .any(|setting| setting.name == option);
        assert!(!is_setting, "--{option} can be set in a variable or a file");
    }
}

/// A library whose code leaves a mark when it is loaded.
fn decoy(path: &Path, mark: &Path) {
    let source = path.with_extension("c");
    let code = format!(
        "#include <stdio.h>\n\
         __attribute__((constructor)) static void run(void) {{ fclose(fopen(\"{}\", \"w\")); }}\n",
        mark.display()
    );
    std::fs::write(&source, code).unwrap();
    let mut compiler = Command::new("cc");
    compiler
        .args(["-shared", "-fPIC", "-o"])
        .arg(path)
        .arg(&source);
    assert!(compiler.status().unwrap().success());
}

#[test]
fn row_75_a_library_in_the_current_folder_is_not_loaded() {
    let site = Site::with(&[CPU, QWEN]);
    let (folder, mark) = (site.path("here"), site.path("mark"));
    std::fs::create_dir(&folder).unwrap();
    for name in [
        "libguild_cpu.so",
        "libguild_qwen.so",
        "libggml-cpu.so",
        "libc.so.6",
        "libm.so.6",
    ] {
        decoy(&folder.join(name), &mark);
    }
    let model = file(SMALL_BF16);
    let mut command = site.guild.command(&[&["run", &model], &RUN[..]].concat());
    let output = command.current_dir(&folder).output().unwrap();
    assert!(output.status.success(), "{}", words(&output));
    assert!(!mark.exists(), "a library of the current folder was loaded");
    // The decoys do leave a mark where they are loaded.
    let mut command = Command::new("true");
    command.env("LD_PRELOAD", folder.join("libguild_cpu.so"));
    assert!(command.status().unwrap().success() && mark.exists());
}

/// A model names what it needs; it brings nothing, and leads nowhere.
#[test]
fn row_80_a_model_brings_no_code() {
    let site = Site::with(&[CPU, QWEN]);
    let (library, mark) = (site.path("evil.so"), site.path("mark"));
    decoy(&library, &mark);
    let path = text(&library);
    for architecture in [
        path.as_str(),
        "../evil.so",
        "org.guild.runners.qwen",
        "/proc/self/exe",
    ] {
        let mut model = guild_hostile::tiny::qwen35moe();
        model.set("general.architecture", writer::text(architecture));
        for key in ["general.plugin", "general.library", "guild.runner.path"] {
            model.set(key, writer::text(&path));
        }
        let bytes = model.bytes();
        let file = site.path("model.gguf");
        std::fs::write(&file, bytes).unwrap();
        let file = text(&file);
        let mut command = site.guild.command(&[&["run", &file], &RUN[..]].concat());
        let output = command.output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(4),
            "{architecture}: {}",
            words(&output)
        );
        assert!(
            !mark.exists(),
            "{architecture}: the model's library was loaded"
        );
    }
}
