//! Which files are read, and where they are looked for.

use std::path::{Path, PathBuf};

/// The file's name in a project.
const PROJECT_FILE: &str = "guild.toml";
/// The system's file.
const SYSTEM_FILE: &str = "/etc/guild/config.toml";
/// What a repository's root folder has.
const REPOSITORY: &str = ".git";

/// Who a file belongs to; a later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// All users of the machine.
    System,
    /// One user.
    User,
    /// The folder that the command runs in, or one above it. Found, not named: it may be anybody's.
    Project,
    /// The file of `--config`.
    Named,
}

impl Layer {
    /// The layer's name in messages and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Layer::System => "system",
            Layer::User => "user",
            Layer::Project => "project",
            Layer::Named => "named",
        }
    }
}

/// A file that configuration may come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    /// Whose it is.
    pub layer: Layer,
    /// Where it is, or would be.
    pub path: PathBuf,
    /// Whether it was there and was read.
    pub read: bool,
}

/// What decides where files are looked for.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The folder that the command runs in.
    pub current: Option<PathBuf>,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The user's folder for configuration.
    pub config_home: Option<PathBuf>,
    /// The system's file.
    pub system: Option<PathBuf>,
}

impl Surroundings {
    /// Those of this process.
    #[must_use]
    pub fn of_process() -> Surroundings {
        let absolute = |name| {
            let folder = PathBuf::from(std::env::var_os(name).unwrap_or_default());
            folder.is_absolute().then_some(folder)
        };
        let home = absolute("HOME");
        let config_home = absolute("XDG_CONFIG_HOME");
        Surroundings {
            current: std::env::current_dir().ok(),
            config_home: config_home.or(home.as_ref().map(|home| home.join(".config"))),
            home,
            system: Some(PathBuf::from(SYSTEM_FILE)),
        }
    }

    /// The user's file.
    #[must_use]
    pub fn user_file(&self) -> Option<PathBuf> {
        let folder = self.config_home.as_ref()?;
        Some(folder.join("guild/config.toml"))
    }
}

/// The files to look at, the weakest first.
pub fn files(named: Option<PathBuf>, surroundings: &Surroundings) -> Vec<ConfigFile> {
    let project = project_file(surroundings);
    let layers = [
        (Layer::System, surroundings.system.clone()),
        (Layer::User, surroundings.user_file()),
        (Layer::Project, project),
        (Layer::Named, named),
    ];
    let file = |(layer, path): (Layer, Option<PathBuf>)| {
        let path = path?;
        Some(ConfigFile {
            layer,
            path,
            read: false,
        })
    };
    layers.into_iter().filter_map(file).collect()
}

/// The nearest `guild.toml`, from the current folder up to the root of its repository or the home
/// folder. Outside of both only the current folder counts: above it may be folders that all may write.
fn project_file(surroundings: &Surroundings) -> Option<PathBuf> {
    let current = surroundings.current.as_deref()?;
    let last = |folder: &&Path| {
        folder.join(REPOSITORY).exists() || surroundings.home.as_deref() == Some(*folder)
    };
    let end = current.ancestors().find(last).unwrap_or(current);
    let folders = current
        .ancestors()
        .take_while(|folder| folder.starts_with(end));
    let mut files = folders.map(|folder| folder.join(PROJECT_FILE));
    files.find(|file| file.symlink_metadata().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_ends_at_its_repository_or_at_home() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let deep = root.join("home/project/src");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(root.join("guild.toml"), "").unwrap();
        let mut surroundings = Surroundings {
            current: Some(deep.clone()),
            ..Surroundings::default()
        };
        let found = |surroundings: &Surroundings| project_file(surroundings);
        assert_eq!(found(&surroundings), None, "above a folder without bounds");
        surroundings.home = Some(root.join("home"));
        assert_eq!(found(&surroundings), None, "above home");
        let project = root.join("home/project/guild.toml");
        std::fs::write(&project, "").unwrap();
        assert_eq!(found(&surroundings), Some(project));
        std::fs::create_dir(deep.join(".git")).unwrap();
        assert_eq!(found(&surroundings), None, "above the repository");
        std::fs::write(deep.join("guild.toml"), "").unwrap();
        assert_eq!(found(&surroundings), Some(deep.join("guild.toml")));
    }
}
