//! What a source file says about others: the modules it declares, the names it defines and imports, its paths.
//!
//! Parsed with `syn`; the bodies of macros, which it does not parse, are scanned for paths. Comments and unit
//! tests say nothing.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, ItemMod, Meta, UseTree};

/// The names of a path from left to right, `crate`, `super` and `self` among them.
pub(super) type Path = Vec<String>;

/// A name that a `use` brings into a module.
pub(super) struct Import {
    pub(super) path: Path,
    /// What it is called there; `*` for all names of the path.
    pub(super) name: String,
}

/// `mod name;`
pub(super) struct File {
    pub(super) name: String,
    /// Where it stands under a condition: `#[cfg_attr(…, path = "other.rs")]`.
    pub(super) others: Vec<String>,
}

/// A module: a file, or what stands between the braces of `mod name { … }`.
#[derive(Default)]
pub(super) struct Module {
    pub(super) files: Vec<File>,
    /// `mod name { … }`
    pub(super) inline: BTreeMap<String, Module>,
    pub(super) defines: BTreeSet<String>,
    pub(super) imports: Vec<Import>,
    /// Paths outside `use`.
    pub(super) paths: BTreeSet<Path>,
}

/// Reads the text of a file.
pub(super) fn read(text: &str) -> syn::Result<Module> {
    let mut module = Module::default();
    module.visit_file(&syn::parse_file(text)?);
    Ok(module)
}

impl Module {
    fn module(&mut self, item: &ItemMod) {
        let name = item.ident.to_string();
        match &item.content {
            None => {
                let others = item.attrs.iter().filter_map(other_file).collect();
                self.files.push(File { name, others });
            }
            Some((_, items)) => {
                let inline = self.inline.entry(name).or_default();
                for item in items {
                    inline.visit_item(item);
                }
            }
        }
    }

    fn import(&mut self, tree: &UseTree, before: &[String]) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        let mut add = |path: Path, name: String| self.imports.push(Import { path, name });
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &with(&path.ident)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before)),
            UseTree::Glob(_) => add(before.to_vec(), "*".to_owned()),
            UseTree::Rename(rename) => {
                add(without_self(with(&rename.ident)), rename.rename.to_string());
            }
            UseTree::Name(name) => {
                let path = without_self(with(&name.ident));
                let name = path.last().cloned().unwrap_or_default();
                add(path, name);
            }
        }
    }

    /// Paths in tokens, wherever names stand with `::` between them.
    fn scan(&mut self, tokens: TokenStream) {
        let mut path = Path::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.paths.insert(std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                other => {
                    self.paths.insert(std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.scan(group.stream());
                    }
                }
            }
        }
        self.paths.insert(path);
    }

    /// Attributes also name functions as texts: `#[serde(with = "super::hex")]`.
    fn texts(&mut self, tokens: TokenStream) {
        for token in tokens {
            let TokenTree::Literal(literal) = token else { continue };
            if let Ok(path) = syn::parse_str(literal.to_string().trim_matches('"')) {
                self.visit_path(&path);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = about(item);
        if attributes.iter().any(is_for_tests) {
            return;
        }
        self.defines.extend(name.map(ToString::to_string));
        match item {
            Item::Mod(item) => self.module(item),
            Item::Use(item) => self.import(&item.tree, &[]),
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if !attributes.iter().any(is_for_tests) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.paths.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.scan(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.scan(list.tokens.clone());
            self.texts(list.tokens.clone());
        }
    }
}

/// The attributes of an item, and the name that it defines.
fn about(item: &Item) -> (&[Attribute], Option<&syn::Ident>) {
    match item {
        Item::Const(item) => (&item.attrs, Some(&item.ident)),
        Item::Enum(item) => (&item.attrs, Some(&item.ident)),
        Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
        Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
        Item::Static(item) => (&item.attrs, Some(&item.ident)),
        Item::Struct(item) => (&item.attrs, Some(&item.ident)),
        Item::Trait(item) => (&item.attrs, Some(&item.ident)),
        Item::Type(item) => (&item.attrs, Some(&item.ident)),
        Item::Union(item) => (&item.attrs, Some(&item.ident)),
        Item::Impl(item) => (&item.attrs, None),
        Item::Mod(item) => (&item.attrs, None),
        Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}

/// `#[cfg(test)]`, also with conditions that must hold besides.
fn is_for_tests(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else { return false };
    let mut condition = Module::default();
    condition.scan(list.tokens.clone());
    let has = |word: &str| condition.paths.contains(&[word.to_owned()][..]);
    attribute.path().is_ident("cfg") && has("test") && !has("not") && !has("any")
}

fn other_file(attribute: &Attribute) -> Option<String> {
    let Meta::List(list) = &attribute.meta else { return None };
    let tokens = list.tokens.to_string();
    let (_, path) = tokens.split_once("path = \"").filter(|_| list.path.is_ident("cfg_attr"))?;
    path.split_once('"').map(|(path, _)| path.to_owned())
}

/// `a::self` is `a`.
fn without_self(mut path: Path) -> Path {
    if path.len() > 1 && path.last().is_some_and(|name| name == "self") {
        path.pop();
    }
    path
}
