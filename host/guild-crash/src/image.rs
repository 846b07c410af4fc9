//! What a power loss may leave of a [`Disk`]: each change that isn't durable is there or not, independently of the
//! others, and bytes may also be cut off or be zeros.

use std::collections::BTreeSet;

use crate::disk::{Content, Disk, Name, Node, NodeId, Place, ROOT};
use crate::random::Random;

/// Something that isn't durable. The first option is what there is now, the last one what is durable.
#[derive(Debug)]
pub(crate) enum Point {
    Name(Place, Vec<Option<NodeId>>),
    File(NodeId, Vec<Content>),
}

/// One option a point.
pub(crate) type Choice = Vec<usize>;

impl Point {
    pub fn options(&self) -> usize {
        match self {
            Self::Name(_, options) => options.len(),
            Self::File(_, options) => options.len(),
        }
    }
}

/// All points of a disk.
pub(crate) fn points(disk: &Disk) -> Vec<Point> {
    let reachable = reachable(disk);
    let mut points = Vec::new();
    for (id, node) in disk.nodes().iter().enumerate() {
        match node {
            _ if !reachable.contains(&id) => {}
            Node::File { durable, live } => {
                let options = contents(durable, live);
                if options.len() > 1 {
                    points.push(Point::File(id, options));
                }
            }
            Node::Directory(names) => {
                for (text, name) in names {
                    let options = name.options();
                    if options.len() > 1 {
                        points.push(Point::Name((id, text.clone()), options));
                    }
                }
            }
        }
    }
    points
}

/// The nodes that a path may lead to after a power loss.
fn reachable(disk: &Disk) -> BTreeSet<NodeId> {
    let mut found = BTreeSet::from([ROOT]);
    let mut open = vec![ROOT];
    while let Some(folder) = open.pop() {
        let Some(Node::Directory(names)) = disk.nodes().get(folder) else {
            continue;
        };
        let nodes = names.values().flat_map(Name::options).flatten();
        open.extend(nodes.filter(|node| found.insert(*node)));
    }
    found
}

/// What a file may hold: all bytes, none of the new ones, half of them, or zeros in their place; with either mode.
fn contents(durable: &Content, live: &Content) -> Vec<Content> {
    let mut options: Vec<Content> = Vec::new();
    let mut add = |content: Content| {
        let is_known = content.is(durable) || options.iter().any(|option| option.is(&content));
        if !is_known {
            options.push(content);
        }
    };
    add(live.clone());
    add(live.with_mode(durable.mode));
    let kept = durable.bytes.len().min(live.bytes.len());
    let half = kept + (live.bytes.len() - kept) / 2;
    let mut zeros = live.bytes[..kept].to_vec();
    zeros.resize(live.bytes.len(), 0);
    for bytes in [live.bytes[..half].to_vec(), zeros] {
        let content = Content::new(bytes, live.mode);
        add(content.with_mode(durable.mode));
        add(content);
    }
    add(durable.with_mode(live.mode));
    options.push(durable.clone());
    options
}

/// The disk after a power loss with these options.
pub(crate) fn image(disk: &Disk, points: &[Point], choice: &[usize]) -> Disk {
    let mut image = disk.settled();
    for (point, option) in points.iter().zip(choice) {
        match point {
            Point::Name(place, options) => {
                image.set_name(place, options.get(*option).copied().flatten());
            }
            Point::File(file, options) => {
                if let Some(content) = options.get(*option) {
                    image.set_content(*file, content.clone());
                }
            }
        }
    }
    image
}

/// How many choices there are.
pub(crate) fn count(points: &[Point]) -> u128 {
    points.iter().fold(1, |product: u128, point| {
        product.saturating_mul(point.options() as u128)
    })
}

/// Every choice.
pub(crate) fn all(points: &[Point]) -> impl Iterator<Item = Choice> {
    let mut next = Some(vec![0; points.len()]);
    std::iter::from_fn(move || {
        let choice = next.take()?;
        let mut following = choice.clone();
        let step = following
            .iter_mut()
            .zip(points)
            .find_map(|(option, point)| {
                *option = (*option + 1) % point.options();
                (*option > 0).then_some(())
            });
        next = step.map(|()| following);
        Some(choice)
    })
}

/// Everything is there; nothing is; all but one; one alone.
pub(crate) fn systematic(points: &[Point]) -> Vec<Choice> {
    let kept = vec![0; points.len()];
    let lost: Choice = points.iter().map(|point| point.options() - 1).collect();
    let mut choices = vec![lost.clone(), kept.clone()];
    for base in [lost, kept] {
        for (index, point) in points.iter().enumerate() {
            for option in (0..point.options()).filter(|option| *option != base[index]) {
                let mut choice = base.clone();
                choice[index] = option;
                choices.push(choice);
            }
        }
    }
    choices
}

/// One choice by chance.
pub(crate) fn drawn(points: &[Point], random: &mut Random) -> Choice {
    points
        .iter()
        .map(|point| random.below(point.options()))
        .collect()
}
