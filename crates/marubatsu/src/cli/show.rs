//! The command `show`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::solve::SearchArgs;
use super::{Usage, WriteFiles, json_line, milliseconds, whole_number, word};
use crate::picture::{DrawnNode, MAX_BOARDS, Picture, html, svg, text};
use crate::search::{Method, Settings};
use crate::{Board, Solution};

#[derive(Args)]
#[command(after_long_help = "\
Examples:
  kyokumen marubatsu show --plies 1
  kyokumen marubatsu show oxo/.x./.o. --plies 4 --method alphabeta --html tree.html")]
pub struct ShowArgs {
    /// Position at the root, rows from the top [default: .../.../...]
    #[arg(default_value_t = Board::EMPTY, hide_default_value = true)]
    board: Board,

    /// Plies to show [default: 2]
    #[arg(long, default_value_t = 2, hide_default_value = true, value_parser = whole_number::<u8, 0, 255>)]
    plies: u8,

    /// Search to show: minimax, alphabeta, pvs or ids (its last iteration) [default: none, the tree itself]
    #[arg(long, value_parser = word::<Method>)]
    method: Option<Method>,

    #[command(flatten)]
    search: SearchArgs,

    /// Write a self-contained HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write an SVG picture
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Print one JSON object that contains the tree
    #[arg(long)]
    json: bool,

    /// Replace existing files
    #[arg(long)]
    force: bool,
}

/// Output of `--json`.
#[derive(Serialize)]
struct Report<'a> {
    plies: u8,
    #[serde(flatten)]
    settings: Option<Settings>,
    nodes: Option<u64>,
    root: &'a DrawnNode,
    elapsed_ms: f64,
}

pub(super) fn run(args: &ShowArgs, write_files: WriteFiles) -> anyhow::Result<String> {
    let started = Instant::now();
    let solution = Solution::new();
    let picture = match args.method {
        None => Picture::of_tree(args.board, args.plies, &solution),
        Some(method) => {
            Picture::of_search(args.board, args.plies, args.search.settings(method), &solution)
        }
    };
    let picture = picture.ok_or_else(|| {
        Usage(format!("the picture has more than {MAX_BOARDS} boards; choose fewer --plies"))
    })?;
    let page = args.html.as_deref().map(|path| (path, html(&picture)));
    let drawing = args.svg.as_deref().map(|path| (path, svg(&picture)));
    let files: Vec<(&Path, String)> = page.into_iter().chain(drawing).collect();
    write_files(&files, args.force)?;
    if args.json {
        let (settings, nodes) = picture.search.as_ref().map(|(s, found)| (*s, found.nodes)).unzip();
        let (plies, root) = (picture.plies, &picture.root);
        let elapsed_ms = milliseconds(started.elapsed());
        json_line(&Report { plies, settings, nodes, root, elapsed_ms })
    } else if files.is_empty() {
        Ok(text(&picture))
    } else {
        Ok(String::new())
    }
}
