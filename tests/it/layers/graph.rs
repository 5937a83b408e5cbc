//! Which file uses which, by the names in it.
//!
//! An arrow goes to the file that defines a name, through all modules that hand it on. A file that only declares
//! modules and hands names on therefore has no arrow to it. What a method is called on cannot be seen without
//! types; the type is named in some file, and that arrow is there.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;

use super::source::{self, Module};

/// All modules of a workspace.
pub(super) struct Graph {
    modules: Vec<Node>,
    /// Roots of the libraries, by their names in code.
    libraries: BTreeMap<String, usize>,
}

struct Node {
    file: String,
    root: usize,
    parent: Option<usize>,
    /// By their names; more than one of a name where a condition says which file it is.
    children: BTreeMap<String, Vec<usize>>,
    module: Module,
}

/// What a path leads to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Module(usize),
    /// Something that a module defines.
    Item(usize, String),
}

/// A file uses another, by these names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Arrow {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) names: BTreeSet<String>,
}

impl std::fmt::Display for Arrow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        write!(f, "{} -> {} ({})", self.from, self.to, names.join(", "))
    }
}

impl Graph {
    /// Reads the files, by their paths in the workspace: all that can be reached from `lib.rs`, `main.rs` and the
    /// programs in `bin`.
    pub(super) fn new(files: &BTreeMap<String, String>) -> Self {
        let mut graph = Self { modules: Vec::new(), libraries: BTreeMap::new() };
        for file in files.keys() {
            let Some((folder, name)) = file.rsplit_once('/') else { continue };
            if name == "lib.rs" && folder.ends_with("src") {
                let root = graph.add_file(files, file, folder, None);
                graph.libraries.insert(library(file), root);
            } else if name == "main.rs" || folder.ends_with("src/bin") {
                graph.add_file(files, file, folder, None);
            }
        }
        graph
    }

    /// Adds the module of a file, and those below it, whose files stand in a folder.
    fn add_file(
        &mut self,
        files: &BTreeMap<String, String>,
        file: &str,
        folder: &str,
        parent: Option<usize>,
    ) -> usize {
        let text = files.get(file).unwrap_or_else(|| panic!("there is no file {file}"));
        let module = source::read(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let number = self.add(file, parent, module);
        self.add_children(files, folder, number);
        number
    }

    fn add(&mut self, file: &str, parent: Option<usize>, module: Module) -> usize {
        let number = self.modules.len();
        let root = parent.map_or(number, |parent| self.modules[parent].root);
        let (file, children) = (file.to_owned(), BTreeMap::new());
        self.modules.push(Node { file, root, parent, children, module });
        number
    }

    fn add_children(&mut self, files: &BTreeMap<String, String>, folder: &str, number: usize) {
        let node = &mut self.modules[number];
        let (declared, inline) = (take(&mut node.module.files), take(&mut node.module.inline));
        let file = node.file.clone();
        let beside = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        for source::File { name, others } in declared {
            let usual = format!("{folder}/{name}.rs");
            let others = others.into_iter().map(|other| format!("{beside}/{other}"));
            for file in [usual].into_iter().chain(others) {
                let child = self.add_file(files, &file, file.trim_end_matches(".rs"), Some(number));
                self.modules[number].children.entry(name.clone()).or_default().push(child);
            }
        }
        for (name, module) in inline {
            let child = self.add(&file, Some(number), module);
            self.add_children(files, &format!("{folder}/{name}"), child);
            self.modules[number].children.entry(name).or_default().push(child);
        }
    }

    /// Whether a file is a module, and not one for unit tests only.
    pub(super) fn has(&self, file: &str) -> bool {
        self.modules.iter().any(|node| node.file == file)
    }

    /// Every arrow from one file to another, ordered by files.
    pub(super) fn arrows(&self) -> Vec<Arrow> {
        let mut arrows: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
        for (at, node) in self.modules.iter().enumerate() {
            for (module, name) in self.uses(at) {
                let to = &self.modules[module].file;
                if *to != node.file {
                    arrows.entry((&node.file, to)).or_default().insert(name);
                }
            }
        }
        let arrow = |((from, to), names): ((&str, &str), _)| Arrow {
            from: from.to_owned(),
            to: to.to_owned(),
            names,
        };
        arrows.into_iter().map(arrow).collect()
    }

    /// The modules whose names a module uses, and the names.
    fn uses(&self, at: usize) -> BTreeSet<(usize, String)> {
        let module = &self.modules[at].module;
        let imports = module.imports.iter().map(|import| &import.path);
        let named = imports.chain(&module.paths).flat_map(|path| self.resolve(at, path));
        let items = named.filter_map(|target| match target {
            Target::Item(module, name) => Some((module, name)),
            Target::Module(_) => None,
        });
        // Traits need not be named to be used.
        let all = module.imports.iter().filter(|import| import.name == "*");
        let modules = all.flat_map(|import| self.resolve(at, &import.path));
        let whole = modules.filter_map(|target| match target {
            Target::Module(module) if !self.modules[module].module.defines.is_empty() => {
                Some((module, "*".to_owned()))
            }
            _ => None,
        });
        items.chain(whole).collect()
    }

    fn resolve(&self, at: usize, path: &[String]) -> BTreeSet<Target> {
        self.resolve_within(at, path, &mut BTreeSet::new())
    }

    /// `visiting`: names that are being looked for, so that `pub use text::text` comes to an end.
    fn resolve_within(
        &self,
        at: usize,
        path: &[String],
        visiting: &mut BTreeSet<(usize, String)>,
    ) -> BTreeSet<Target> {
        let Some((first, mut rest)) = path.split_first() else { return BTreeSet::new() };
        let mut targets = match first.as_str() {
            "crate" => BTreeSet::from([Target::Module(self.modules[at].root)]),
            "self" => BTreeSet::from([Target::Module(at)]),
            "super" => {
                let mut above = self.modules[at].parent;
                while let Some((name, others)) = rest.split_first()
                    && name == "super"
                {
                    above = above.and_then(|above| self.modules[above].parent);
                    rest = others;
                }
                above.map(Target::Module).into_iter().collect()
            }
            name => {
                let mut found = self.find(at, name, visiting);
                if found.is_empty() {
                    found.extend(self.libraries.get(name).copied().map(Target::Module));
                }
                found
            }
        };
        for name in rest {
            let next = targets.iter().flat_map(|target| match target {
                Target::Module(module) => self.find(*module, name, visiting),
                // A variant, or something of a type.
                Target::Item(..) => BTreeSet::from([target.clone()]),
            });
            targets = next.collect();
        }
        targets
    }

    /// What a name means in a module.
    fn find(
        &self,
        at: usize,
        name: &str,
        visiting: &mut BTreeSet<(usize, String)>,
    ) -> BTreeSet<Target> {
        let Node { children, module, .. } = &self.modules[at];
        let mut found: BTreeSet<Target> =
            children.get(name).into_iter().flatten().copied().map(Target::Module).collect();
        if module.defines.contains(name) {
            found.insert(Target::Item(at, name.to_owned()));
        }
        if !visiting.insert((at, name.to_owned())) {
            return found;
        }
        for import in module.imports.iter().filter(|import| import.name == name) {
            found.extend(self.resolve_within(at, &import.path, visiting));
        }
        if found.is_empty() {
            for import in module.imports.iter().filter(|import| import.name == "*") {
                for target in self.resolve_within(at, &import.path, visiting) {
                    if let Target::Module(all) = target {
                        found.extend(self.find(all, name, visiting));
                    }
                }
            }
        }
        visiting.remove(&(at, name.to_owned()));
        found
    }
}

/// `crates/shogi/src/lib.rs` is `kyokumen_shogi`.
fn library(file: &str) -> String {
    match file.split('/').collect::<Vec<_>>()[..] {
        ["crates", name, ..] => format!("kyokumen_{name}"),
        _ => "kyokumen".to_owned(),
    }
}

/// Groups of files each of which leads to each other, with the arrows between them.
pub(super) fn circles(arrows: &[Arrow]) -> Vec<Vec<&Arrow>> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for arrow in arrows {
        next.entry(&arrow.from).or_default().push(&arrow.to);
    }
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        next.keys().map(|&file| (file, reached_from(file, &next))).collect();
    let leads = |from: &str, to: &str| reach.get(from).is_some_and(|files| files.contains(to));
    let mut circles: BTreeMap<Vec<&str>, Vec<&Arrow>> = BTreeMap::new();
    for arrow in arrows.iter().filter(|arrow| leads(&arrow.to, &arrow.from)) {
        let files = reach[arrow.from.as_str()].iter().copied();
        let circle = files.filter(|file| leads(file, &arrow.from)).collect();
        circles.entry(circle).or_default().push(arrow);
    }
    circles.into_values().collect()
}

fn reached_from<'a>(file: &'a str, next: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        for &to in next.get(file).into_iter().flatten() {
            if reached.insert(to) {
                open.push(to);
            }
        }
    }
    reached
}
