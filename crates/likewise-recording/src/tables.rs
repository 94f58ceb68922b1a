//! Tables that all events share: loaded objects, call paths, symbols.

use crate::calls::CallId;
use crate::hash::Map;
use crate::meta::{Frame, NO_SYMBOL};

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

    /// Takes up of another's tables what the symbols need of which `used` says
    /// so; what the symbols there are called here, `NO_SYMBOL` for the others.
    pub(crate) fn take_up(&mut self, other: &Self, used: impl Fn(u32) -> bool) -> Vec<u32> {
        let is_used = |(symbol, _): &(u32, &(CallId, u32))| used(*symbol);
        let mut needed = vec![false; other.paths.len()];
        for (_, (_, path)) in (0..).zip(&other.symbols).filter(is_used) {
            let mut path = *path as usize;
            while path > 0 && !std::mem::replace(&mut needed[path - 1], true) {
                path = other.paths[path - 1].parent as usize;
            }
        }
        let mut modules = vec![None; other.modules.len()];
        let mut paths = vec![0; other.paths.len() + 1];
        for (at, node) in other.paths.iter().enumerate().filter(|(at, _)| needed[*at]) {
            let module = node.frame.module as usize;
            let (id, file) = &other.modules[module];
            let module = *modules[module].get_or_insert_with(|| self.module(id, file));
            let parent = paths[node.parent as usize];
            paths[at + 1] = self.path(PathNode { parent, frame: Frame { module, ..node.frame } });
        }
        let mut symbols = vec![NO_SYMBOL; other.symbols.len()];
        for (symbol, (call, path)) in (0..).zip(&other.symbols).filter(is_used) {
            symbols[symbol as usize] = self.symbol(*call, paths[*path as usize]);
        }
        symbols
    }
}
