//! The program under test, apart from the machine that runs the tests.

use std::path::Path;
use std::process::Command;

/// What begins the name of every variable that is a setting of guild.
const SETTINGS: &str = "GUILD_";
/// What begins the names of the tests' own variables; guild reads none of them.
const TEST_INPUTS: &str = "GUILD_TEST_";

/// The built program in `home`, a folder of the test's own: it is the home folder and the current one, so the package
/// store and the histories are below it. No setting of the user's reaches the program, neither from a variable nor from
/// a file. Tests of configuration files remove `GUILD_NO_CONFIG`.
pub fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_guild"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let setting = text.starts_with(SETTINGS) && !text.starts_with(TEST_INPUTS);
        if setting || text.starts_with("XDG_") {
            command.env_remove(&name);
        }
    }
    // They decide about colours.
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "TERM"] {
        command.env_remove(name);
    }
    // Cargo sets it for tests, and guild warns of it.
    command.env_remove("LD_LIBRARY_PATH");
    command
        .env("HOME", home)
        .env("GUILD_NO_CONFIG", "1")
        .env("GUILD_NO_MACHINE_STORE", "1")
        .current_dir(home);
    command
}
