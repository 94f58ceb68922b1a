//! Tables that all events share: loaded objects, call paths, symbols.

use crate::calls::CallId;
use crate::hash::Map;
use crate::meta::Frame;

/// A node of the tree of call paths. Paths are numbered from 1; 0 is the empty
/// path, which every path begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PathNode {
    /// The path without its innermost frame; less than the own number.
    pub(crate) parent: u32,
    pub(crate) frame: Frame,
}

/// Tables with numbers that stay.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    /// Build id and file.
    pub(crate) modules: Vec<(Vec<u8>, String)>,
    pub(crate) paths: Vec<PathNode>,
    pub(crate) symbols: Vec<(CallId, u32)>,
    known_paths: Map<PathNode, u32>,
    known_symbols: Map<(CallId, u32), u32>,
}

impl Tables {
    pub(crate) fn module(&mut self, build_id: &[u8], file: &str) -> u32 {
        let same = |(id, name): &(Vec<u8>, String)| id == build_id && (!id.is_empty() || name == file);
        let at = self.modules.iter().position(same).unwrap_or_else(|| {
            self.modules.push((build_id.to_vec(), file.to_owned()));
            self.modules.len() - 1
        });
        at as u32
    }

    pub(crate) fn path(&mut self, node: PathNode) -> u32 {
        let next = self.paths.len() as u32 + 1;
        let number = *self.known_paths.entry(node).or_insert(next);
        if number == next {
            self.paths.push(node);
        }
        number
    }

    pub(crate) fn symbol(&mut self, call: CallId, path: u32) -> u32 {
        let next = self.symbols.len() as u32;
        let number = *self.known_symbols.entry((call, path)).or_insert(next);
        if number == next {
            self.symbols.push((call, path));
        }
        number
    }

    /// The frames of a path, the innermost first.
    pub(crate) fn frames(&self, mut path: u32) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(node) = (path as usize).checked_sub(1).and_then(|at| self.paths.get(at)) {
            frames.push(node.frame);
            path = node.parent;
        }
        frames
    }

    /// Takes up another's tables; what the symbols there are called here.
    pub(crate) fn take_up(&mut self, other: &Self) -> Vec<u32> {
        let modules: Vec<u32> = other.modules.iter().map(|(id, file)| self.module(id, file)).collect();
        let mut paths = vec![0];
        for node in &other.paths {
            let frame = Frame { module: modules[node.frame.module as usize], ..node.frame };
            let parent = paths[node.parent as usize];
            paths.push(self.path(PathNode { parent, frame }));
        }
        other.symbols.iter().map(|(call, path)| self.symbol(*call, paths[*path as usize])).collect()
    }
}
