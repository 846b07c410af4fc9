//! A file system as data: what it shows now, and what of that is durable. It knows two guarantees and no other. A sync
//! of a file makes its bytes and mode durable, but not its name; a sync of a directory makes its names durable, but
//! not what they lead to. A rename replaces a name at once, but leaves the old name and the new one as two changes.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;

use guild_package::Digest;

/// A file or directory of a [`Disk`].
pub(crate) type NodeId = usize;

/// The root directory.
pub(crate) const ROOT: NodeId = 0;

/// The files and directories. A node keeps its number for ever.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    nodes: Vec<Node>,
}

/// A file or a directory.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// What a power loss would leave at least, and what there is now.
    File { durable: Content, live: Content },
    /// Names.
    Directory(BTreeMap<String, Name>),
}

/// What a name has led to since the directory was synced: first what is durable, last what there is now.
#[derive(Clone, Debug)]
pub(crate) struct Name(Vec<Option<NodeId>>);

/// Bytes and permission bits.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub bytes: Arc<Vec<u8>>,
    pub mode: u32,
    digest: Digest,
}

/// A name in a directory.
pub(crate) type Place = (NodeId, String);

/// What a call changes.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    CreateFile(Place),
    CreateDirectory(Place),
    Write(NodeId, Vec<u8>),
    SetMode(NodeId, u32),
    SyncFile(NodeId),
    SyncDirectory(NodeId),
    Remove(Place),
    Rename(Place, Place),
}

/// What lies at a path of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Directory,
    File {
        digest: Digest,
        mode: u32,
        bytes: usize,
    },
}

impl Content {
    pub fn new(bytes: Vec<u8>, mode: u32) -> Self {
        Self {
            digest: Digest::of(&bytes),
            bytes: Arc::new(bytes),
            mode,
        }
    }

    /// The same bytes with another mode.
    pub fn with_mode(&self, mode: u32) -> Self {
        Self {
            mode,
            ..self.clone()
        }
    }

    pub fn is(&self, other: &Self) -> bool {
        self.mode == other.mode && self.digest == other.digest
    }
}

impl Name {
    /// What it leads to now.
    pub fn live(&self) -> Option<NodeId> {
        self.0.last().copied().flatten()
    }

    /// What it may lead to after a power loss: what it leads to now first, what is durable last.
    pub fn options(&self) -> Vec<Option<NodeId>> {
        let durable = self.0.first().copied().flatten();
        let mut options = vec![self.live()];
        let between = self.0.iter().rev().copied();
        for value in between.filter(|value| *value != durable) {
            if !options.contains(&value) {
                options.push(value);
            }
        }
        if !options.contains(&durable) {
            options.push(durable);
        }
        options
    }
}

impl Disk {
    /// An empty root.
    pub fn new() -> Self {
        Self {
            nodes: vec![Node::Directory(BTreeMap::new())],
        }
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn directory(&self, id: NodeId) -> io::Result<&BTreeMap<String, Name>> {
        match self.nodes.get(id) {
            Some(Node::Directory(names)) => Ok(names),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub fn file(&self, id: NodeId) -> io::Result<&Content> {
        match self.nodes.get(id) {
            Some(Node::File { live, .. }) => Ok(live),
            _ => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    /// What a path leads to now.
    pub fn find(&self, path: &str) -> io::Result<NodeId> {
        let steps = path.split('/').filter(|step| *step != ".");
        steps.into_iter().try_fold(ROOT, |folder, step| {
            let name = self.directory(folder)?.get(step).and_then(Name::live);
            name.ok_or_else(|| io::ErrorKind::NotFound.into())
        })
    }

    /// The directory and the name of a path.
    pub fn place(&self, path: &str) -> io::Result<Place> {
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        let folder = self.find(folder)?;
        self.directory(folder)?;
        Ok((folder, name.to_owned()))
    }

    /// What a place leads to now.
    pub fn at(&self, (folder, name): &Place) -> Option<NodeId> {
        self.directory(*folder).ok()?.get(name)?.live()
    }

    /// Makes a change. Whether it may be made was asked before.
    pub fn apply(&mut self, effect: &Effect) {
        match effect {
            Effect::CreateFile(place) => {
                let content = Content::new(Vec::new(), 0o600);
                self.add(
                    place,
                    Node::File {
                        durable: content.clone(),
                        live: content,
                    },
                );
            }
            Effect::CreateDirectory(place) => self.add(place, Node::Directory(BTreeMap::new())),
            Effect::Write(file, bytes) => {
                self.change(*file, |_, live| {
                    let mut all = live.bytes.to_vec();
                    all.extend(bytes);
                    *live = Content::new(all, live.mode);
                });
            }
            Effect::SetMode(file, mode) => self.change(*file, |_, live| live.mode = *mode),
            Effect::SyncFile(file) => self.change(*file, |durable, live| *durable = live.clone()),
            Effect::SyncDirectory(folder) => self.sync_names(*folder),
            Effect::Remove(place) => self.lead(place, None),
            Effect::Rename(from, to) => {
                let node = self.at(from);
                self.lead(from, None);
                self.lead(to, node);
            }
        }
    }

    /// Adds a file or a directory, durably. For disks that are read from elsewhere.
    pub fn put(&mut self, path: &str, content: Option<Content>) -> io::Result<()> {
        let place = self.place(path)?;
        let node = match content {
            Some(content) => Node::File {
                durable: content.clone(),
                live: content,
            },
            None => Node::Directory(BTreeMap::new()),
        };
        self.nodes.push(node);
        self.set_name(&place, Some(self.nodes.len() - 1));
        Ok(())
    }

    /// Everything as it is now, and durable.
    pub fn settled(&self) -> Self {
        self.chosen(|content| content.clone(), Name::live)
    }

    /// A disk on which everything is durable, with the contents and the names that are chosen.
    pub fn chosen(
        &self,
        mut content: impl FnMut(&Content) -> Content,
        mut leads_to: impl FnMut(&Name) -> Option<NodeId>,
    ) -> Self {
        let nodes = self.nodes.iter().map(|node| match node {
            Node::File { live, .. } => {
                let chosen = content(live);
                Node::File {
                    durable: chosen.clone(),
                    live: chosen,
                }
            }
            Node::Directory(names) => {
                let names = names.iter().filter_map(|(text, name)| {
                    let node = leads_to(name)?;
                    Some((text.clone(), Name(vec![Some(node)])))
                });
                Node::Directory(names.collect())
            }
        });
        Self {
            nodes: nodes.collect(),
        }
    }

    /// Sets a file's content, durably. For preparing a damaged disk and for images.
    pub fn set_content(&mut self, file: NodeId, content: Content) {
        self.change(file, |durable, live| {
            *durable = content.clone();
            *live = content;
        });
    }

    /// Sets what a name leads to, durably.
    pub fn set_name(&mut self, (folder, name): &Place, node: Option<NodeId>) {
        if let Some(Node::Directory(names)) = self.nodes.get_mut(*folder) {
            match node {
                Some(node) => drop(names.insert(name.clone(), Name(vec![Some(node)]))),
                None => drop(names.remove(name)),
            }
        }
    }

    /// Every path there is now, and what lies there.
    pub fn tree(&self) -> BTreeMap<String, Entry> {
        let entry = |id: NodeId| match self.nodes.get(id) {
            Some(Node::File { live, .. }) => Entry::File {
                digest: live.digest,
                mode: live.mode,
                bytes: live.bytes.len(),
            },
            _ => Entry::Directory,
        };
        let paths = self.paths().into_iter();
        paths.map(|(path, id)| (path, entry(id))).collect()
    }

    /// Every path there is now, and what it leads to.
    pub fn paths(&self) -> Vec<(String, NodeId)> {
        let mut paths = Vec::new();
        let mut open = vec![(String::new(), ROOT)];
        while let Some((prefix, folder)) = open.pop() {
            let Some(Node::Directory(names)) = self.nodes.get(folder) else {
                continue;
            };
            for (text, name) in names {
                let Some(id) = name.live() else { continue };
                let path = format!("{prefix}{text}");
                // A file has no names, so it is passed over above.
                open.push((format!("{path}/"), id));
                paths.push((path, id));
            }
        }
        paths
    }

    /// The identity of what there is now.
    pub fn key(&self) -> Digest {
        key(&self.tree())
    }

    fn add(&mut self, place: &Place, node: Node) {
        let id = self.nodes.len();
        self.nodes.push(node);
        self.lead(place, Some(id));
    }

    fn lead(&mut self, (folder, name): &Place, node: Option<NodeId>) {
        if let Some(Node::Directory(names)) = self.nodes.get_mut(*folder) {
            let name = names.entry(name.clone()).or_insert(Name(vec![None]));
            name.0.push(node);
        }
    }

    fn change(&mut self, file: NodeId, change: impl FnOnce(&mut Content, &mut Content)) {
        if let Some(Node::File { durable, live }) = self.nodes.get_mut(file) {
            change(durable, live);
        }
    }

    fn sync_names(&mut self, folder: NodeId) {
        if let Some(Node::Directory(names)) = self.nodes.get_mut(folder) {
            names.retain(|_, name| {
                name.0 = vec![name.live()];
                name.live().is_some()
            });
        }
    }
}

/// The identity of a tree.
pub(crate) fn key(tree: &BTreeMap<String, Entry>) -> Digest {
    use std::fmt::Write as _;
    let mut text = String::new();
    for (path, entry) in tree {
        // Writing to a string can't fail.
        let _ = match entry {
            Entry::Directory => writeln!(text, "{path}/"),
            Entry::File { digest, mode, .. } => writeln!(text, "{path} {mode:o} {digest}"),
        };
    }
    Digest::of(text.as_bytes())
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateFile((_, name)) => write!(f, "create {name}"),
            Self::CreateDirectory((_, name)) => write!(f, "create directory {name}"),
            Self::Write(_, bytes) => write!(f, "write {} bytes", bytes.len()),
            Self::SetMode(_, mode) => write!(f, "set mode {mode:04o}"),
            Self::SyncFile(_) => f.write_str("sync a file"),
            Self::SyncDirectory(_) => f.write_str("sync a directory"),
            Self::Remove((_, name)) => write!(f, "remove {name}"),
            Self::Rename((_, from), (_, to)) => write!(f, "rename {from} to {to}"),
        }
    }
}
