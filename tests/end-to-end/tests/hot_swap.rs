//! A running host picks up a new version for its next session, while older sessions end on the version that they began
//! with; and whatever commands do meanwhile, no session notices.

use guild_cli::exit::Exit;
use guild_cli::failure::Failure;
use guild_cli::output::Output;
use guild_cli::places::Places;
use guild_cli::wiring::model::{OpenModel, Size};
use guild_demo::build::Profile;
use guild_demo::upgrade;
use guild_end_to_end::{CPU, QWEN, SMALL_BF16, Site, binaries, model_args, root};
use guild_engine::{Engine, Session};
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const PROMPT: [u32; 3] = [1, 2, 3];
const TOKENS: usize = 24;

/// A session that decodes greedily.
struct Decoding {
    engine: Engine,
    session: Session,
    next: u32,
    model: OpenModel,
}

impl Decoding {
    /// Loads what is enabled now.
    fn start(data_dir: &Path) -> Result<Decoding, Failure> {
        let output = Output::new(true);
        let args = model_args(SMALL_BF16, 1, false);
        let model = OpenModel::open(&args, 64, &Places::user(data_dir), output)?;
        let size = Size {
            rows: PROMPT.len() as u64,
            outputs: 1,
            context: 64,
            sampling: None,
        };
        let mut engine = model.engine(size)?;
        let mut session = engine.start().unwrap();
        let next = best(engine.prefill(&mut session, &PROMPT, |_| {}).unwrap());
        Ok(Decoding {
            engine,
            session,
            next,
            model,
        })
    }

    fn tokens(&mut self, count: usize) -> Vec<u32> {
        let step = |_| {
            let token = self.next;
            self.next = best(self.engine.decode(&mut self.session, token).unwrap());
            token
        };
        (0..count).map(step).collect()
    }

    /// The version of the CPU package that has run operations.
    fn version(&self) -> String {
        let report = self.model.package_report();
        let cpu = report.iter().find(|package| package["id"] == CPU.0);
        let version = cpu.map(|package| package["version"].clone());
        version.as_ref().and_then(Value::as_str).unwrap().to_owned()
    }
}

fn best(logits: &[f32]) -> u32 {
    let best = logits.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    best.unwrap().0 as u32
}

/// A store with 1.0.0, and the bundle of 1.0.1, which was built apart.
fn two_versions() -> (Site, String) {
    let site = Site::with(&[CPU, QWEN]);
    let staged = site.path("newer");
    upgrade::stage(&root(), binaries(), Profile::Dev, &staged).unwrap();
    let newer = site.sign(&staged, "newer");
    (site, newer)
}

/// What any version of the exact class says.
fn expected(site: &Site) -> Vec<u32> {
    Decoding::start(site.guild.data_dir())
        .unwrap()
        .tokens(TOKENS)
}

#[test]
fn two_versions_decode_in_one_process() {
    let (site, newer) = two_versions();
    let data_dir = site.guild.data_dir();
    let expected = expected(&site);
    let mut old = Decoding::start(data_dir).unwrap();
    let mut of_old = old.tokens(TOKENS / 3);

    site.guild.json(&["kernel", "install", &newer]).unwrap();
    let mut new = Decoding::start(data_dir).unwrap();
    let mut of_new = new.tokens(TOKENS / 3);
    of_old.extend(old.tokens(TOKENS / 3));
    of_new.extend(new.tokens(TOKENS / 3));
    assert_eq!(
        (old.version(), new.version()),
        ("1.0.0".into(), "1.0.1".into())
    );

    // The old version can't be taken away while its session lives, and the message says whose it is.
    let remove = ["kernel", "remove", "org.guild.kernels.cpu@1.0.0"];
    let busy = site.output(&remove);
    assert_eq!(busy.status.code(), Some(30), "ACTIVE_SESSION_BUSY");
    let answer: Value = serde_json::from_slice(&busy.stdout).unwrap();
    let message = answer["message"].as_str().unwrap();
    let process = format!("process {}", std::process::id());
    assert!(
        message.contains(&process) && message.contains("guild"),
        "{message}"
    );

    of_old.extend(old.tokens(TOKENS / 3));
    drop(old);
    site.guild.json(&remove).unwrap();
    of_new.extend(new.tokens(TOKENS / 3));
    assert_eq!((&of_old, &of_new), (&expected, &expected));
}

/// Two threads open the model, decode and end, over and over; commands change the store under them.
#[test]
fn sessions_don_t_notice_what_commands_do() {
    const ROUNDS: usize = 12;
    let (site, newer) = two_versions();
    let data_dir = site.guild.data_dir();
    let expected = expected(&site);
    let (ended, starts, refused) = (
        AtomicBool::new(false),
        AtomicUsize::new(0),
        AtomicUsize::new(0),
    );
    let decode = || {
        while !ended.load(Ordering::Relaxed) {
            let mut decoding = match Decoding::start(data_dir) {
                Ok(decoding) => decoding,
                // Disabled at this moment: refused by name, not run without.
                Err(failure) => {
                    assert_eq!(failure.exit, Exit::Unsupported, "{}", failure.message);
                    refused.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
            };
            assert_eq!(decoding.tokens(TOKENS), expected, "{}", decoding.version());
            starts.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let sessions = [scope.spawn(decode), scope.spawn(decode)];
        for _ in 0..ROUNDS {
            for line in [
                &["kernel", "install", &newer][..],
                &["kernel", "rollback", CPU.0],
                &["kernel", "gc"],
                &["kernel", "disable", CPU.0, "--drain", "30"],
                &["kernel", "enable", "org.guild.kernels.cpu@1.0.0"],
                &["kernel", "remove", "org.guild.kernels.cpu@1.0.1"],
                &["kernel", "gc"],
            ] {
                let output = site.output(line);
                let code = output.status.code();
                // A version that a session has isn't removed.
                let is_busy = line[1] == "remove" && code == Some(30);
                let said = String::from_utf8_lossy(&output.stdout);
                assert!(code == Some(0) || is_busy, "{line:?}: {code:?}: {said}");
            }
        }
        ended.store(true, Ordering::Relaxed);
        for session in sessions {
            session.join().unwrap();
        }
    });
    let started = starts.load(Ordering::Relaxed);
    assert!(started > ROUNDS, "{started} sessions");
    // No lease is left: every version can be removed, and nobody is noted as having one.
    site.guild.json(&["kernel", "remove", CPU.0]).unwrap();
    let leases = std::fs::read_dir(data_dir.join("kernels/leases")).unwrap();
    let notes = leases.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".json")
    });
    assert_eq!(notes.count(), 0, "a lease outlived its session");
}
