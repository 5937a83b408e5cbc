//! `kyokumen marubatsu show`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::super::option::{whole_number, word};
use super::super::report::{json_line, milliseconds};
use super::output::{plan_files, write_file};
use super::search_args::SearchArgs;
use super::solve::number;
use crate::cli::exit::Usage;
use crate::marubatsu::picture::{
    Bound, DrawnNode, MAX_BOARDS, NodeStatus, Picture, html, svg, text,
};
use crate::marubatsu::search::{Method, Settings};
use crate::marubatsu::{Board, Solution, Square};

/// Draw the tree under a position: its values, or what a search visited and cut
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  kyokumen marubatsu show --plies 1
  kyokumen marubatsu show oxo/.x./.o. --plies 4 --method alphabeta --html tree.html")]
pub(super) struct ShowArgs {
    /// Position at the root, rows from the top [default: .../.../...]
    #[arg(default_value_t = Board::EMPTY, hide_default_value = true)]
    board: Board,

    /// Plies shown [default: 2]
    #[arg(long, default_value_t = 2, hide_default_value = true, value_parser = whole_number::<u8>(..))]
    plies: u8,

    /// Search to be shown: minimax, alphabeta, pvs or ids (its last iteration) [default: none, the tree itself]
    #[arg(long, value_parser = word::<Method>)]
    method: Option<Method>,

    #[command(flatten)]
    search: SearchArgs,

    /// Write a page that needs nothing but a browser
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write an SVG picture
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// One JSON object, with the tree in it
    #[arg(long)]
    json: bool,

    /// Replace files that are there
    #[arg(long)]
    force: bool,
}

/// Output of `--json`.
#[derive(Serialize)]
struct Report {
    plies: u8,
    #[serde(flatten)]
    settings: Option<Settings>,
    nodes: Option<u64>,
    root: Node,
    elapsed_ms: f64,
}

#[derive(Serialize)]
struct Node {
    board: String,
    last: Option<u8>,
    fate: NodeStatus,
    value: i8,
    bound: Option<Bound>,
    found: Option<serde_json::Number>,
    visits: u32,
    children: Vec<Self>,
}

impl From<&DrawnNode> for Node {
    fn from(drawn: &DrawnNode) -> Self {
        Self {
            board: drawn.board.to_string(),
            last: drawn.last.map(Square::number),
            fate: drawn.fate,
            value: drawn.value,
            bound: drawn.found.map(|(bound, _)| bound),
            found: drawn.found.map(|(_, score)| number(score.as_points())),
            visits: drawn.visits,
            children: drawn.children.iter().map(Self::from).collect(),
        }
    }
}

pub(super) fn run(args: &ShowArgs) -> anyhow::Result<()> {
    let started = Instant::now();
    let solution = Solution::new();
    let picture = match args.method {
        None => Picture::of_tree(args.board, args.plies, &solution),
        Some(method) => {
            Picture::of_search(args.board, args.plies, args.search.settings(method), &solution)
        }
    };
    let picture = picture.ok_or_else(|| {
        Usage(format!(
            "a picture of more than {MAX_BOARDS} boards: fewer plies make fewer (--plies)"
        ))
    })?;
    let plans = plan_files(args.html.iter().chain(&args.svg), args.force)?;
    let drawings =
        [args.html.is_some().then(|| html(&picture)), args.svg.is_some().then(|| svg(&picture))];
    for (plan, drawing) in plans.into_iter().zip(drawings.into_iter().flatten()) {
        write_file(plan, drawing.as_bytes())?;
    }
    if args.json {
        let (settings, nodes) = picture.search.as_ref().map(|(s, found)| (*s, found.nodes)).unzip();
        let (plies, root) = (picture.plies, Node::from(&picture.root));
        let elapsed_ms = milliseconds(started.elapsed());
        json_line(&Report { plies, settings, nodes, root, elapsed_ms })?;
    } else if args.html.is_none() && args.svg.is_none() {
        io::stdout().write_all(text(&picture).as_bytes())?;
    }
    Ok(())
}
