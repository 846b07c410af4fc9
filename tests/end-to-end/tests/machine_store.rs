//! The machine's package store: its owner changes it, everybody uses it, and a user's own stands above it.

use guild_demo::build::Profile;
use guild_demo::upgrade;
use guild_end_to_end::{CPU, QWEN, SMALL_BF16, Site, binaries, file, root};
use serde_json::Value;
use std::process::Command;

/// A site whose data folder is the machine's, and what a user with another one sees.
struct Machine {
    site: Site,
}

impl Machine {
    fn user(&self, line: &[&str]) -> Value {
        let output = self.command(line).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line:?}: {text}{error}");
        serde_json::from_str(&text).unwrap()
    }

    fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new(binaries().join("guild"));
        command
            .env_remove("GUILD_MACHINE_DATA_DIR")
            .args(["--json", "--no-config", "--data-dir"])
            .arg(self.site.path("own"))
            .arg("--machine-data-dir")
            .arg(self.site.path("machine"))
            .args(line);
        command
    }

    fn run(&self) -> (Value, Vec<String>) {
        let model = file(SMALL_BF16);
        let mut answer = self.user(&[
            "run",
            &model,
            "--prompt-ids",
            "1,2",
            "-n",
            "3",
            "--external-only",
        ]);
        let packages = answer["packages"].as_array().unwrap().iter();
        let name = |package: &Value| {
            let text = |key: &str| package[key].as_str().unwrap().to_owned();
            format!("{} {}", text("id"), text("version"))
        };
        let names = packages.map(name).collect();
        (answer["tokens"].take(), names)
    }
}

#[test]
fn a_user_s_store_stands_above_the_machine_s() {
    let machine = Machine { site: Site::new() };
    let public = machine.site.key.public.to_string_lossy().into_owned();
    let trust = ["kernel", "trust", "add", &public, "--scope", "org.guild"];
    machine.user(&[&["--machine"], &trust[..]].concat());
    for package in [CPU, QWEN] {
        let bundle = machine.site.bundle(package);
        machine.user(&["--machine", "kernel", "install", &bundle]);
    }
    // A user without a store of their own uses it, and makes none by reading.
    let (tokens, packages) = machine.run();
    assert_eq!(
        packages,
        [format!("{} 1.0.0", CPU.0), format!("{} 1.0.0", QWEN.0)]
    );
    assert!(!machine.site.path("own").exists());
    let without = machine.command(&["--no-machine-store", "kernel", "list"]);
    let without: Value = serde_json::from_slice(&{ without }.output().unwrap().stdout).unwrap();
    assert_eq!(without["packages"].as_array().unwrap().len(), 0);

    // The user's own version stands above it, under the user's own trust.
    let staged = machine.site.path("newer");
    upgrade::stage(&root(), binaries(), Profile::Dev, &staged).unwrap();
    let newer = machine.site.sign(&staged, "newer");
    let untrusted = machine
        .command(&["kernel", "install", &newer])
        .output()
        .unwrap();
    assert_eq!(untrusted.status.code(), Some(12), "KEY_UNTRUSTED");
    // A refused first install leaves no store behind, only the record of it.
    assert!(!machine.site.path("own/kernels").exists());
    assert!(machine.site.path("own/audit").exists());
    machine.user(&trust);
    machine.user(&["kernel", "install", &newer]);
    let (again, packages) = machine.run();
    assert_eq!(again, tokens);
    assert_eq!(
        packages,
        [format!("{} 1.0.1", CPU.0), format!("{} 1.0.0", QWEN.0)]
    );
    let listed = machine.user(&["kernel", "list"]);
    let rows = listed["packages"].as_array().unwrap().iter();
    let rows: Vec<_> = rows
        .map(|row| {
            (
                row["store"].as_str().unwrap(),
                row["state"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("own", "enabled"),
            ("machine", "installed"),
            ("machine", "enabled")
        ]
    );
    // Without it the machine's is back; the machine's store was never changed.
    machine.user(&["kernel", "disable", CPU.0]);
    assert_eq!(machine.run().1[0], format!("{} 1.0.0", CPU.0));
    let log = machine.user(&["--machine", "kernel", "log"]);
    assert_eq!(log["generations"].as_array().unwrap().len(), 4);
}

/// A command that deletes works on the store that was meant, and on no other in its place.
#[test]
fn nobody_clears_the_machine_s_store_by_mistake() {
    let machine = Machine { site: Site::new() };
    let public = machine.site.key.public.to_string_lossy().into_owned();
    let on_machine = |line: &[&str]| machine.user(&[&["--machine", "kernel"], line].concat());
    on_machine(&["trust", "add", &public, "--scope", "org.guild"]);
    on_machine(&["install", &machine.site.bundle(QWEN)]);
    on_machine(&["remove", QWEN.0]);
    assert_eq!(machine.user(&["kernel", "gc"])["files"], 0);
    assert!(on_machine(&["gc"])["files"].as_u64().unwrap() > 0);
}

/// An administrator's shell may keep new files from others; the store is for everybody all the same.
#[test]
fn the_machine_s_folders_are_for_everybody_whatever_the_mask() {
    use std::os::unix::fs::PermissionsExt;
    let site = Site::new();
    let (guild, public) = (binaries().join("guild"), &site.key.public);
    let machine = site.path("var/lib");
    let line = format!(
        "umask 077 && exec {} --no-config --machine --machine-data-dir {} kernel trust add {} --scope org.guild",
        guild.display(),
        machine.display(),
        public.display()
    );
    let status = Command::new("sh").args(["-c", &line]).status().unwrap();
    assert!(status.success());
    for folder in ["var", "var/lib", "var/lib/kernels", "var/lib/kernels/gen"] {
        let mode = std::fs::metadata(site.path(folder))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o755, "{folder}: {mode:o}");
    }
    let generation = std::fs::read_dir(machine.join("kernels/gen"))
        .unwrap()
        .next();
    let mode = generation
        .unwrap()
        .unwrap()
        .metadata()
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o444, 0o444, "{mode:o}");
}
