//! A picture as a self-contained HTML page.
//!
//! It has no scripts, fonts or external pictures. It follows the light or dark mode of the reader's system.

use super::super::board::Mark;
use super::drawn::{NodeStatus, Picture, winner};
use super::push;
use super::svg::drawing;

const STYLE: &str = include_str!("picture.css");

/// The picture as an HTML page.
pub fn html(picture: &Picture) -> String {
    let board = picture.root.board;
    let title = format!("Marubatsu {board}");
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n"
    );
    push(&mut page, format_args!("<p>{}</p>\n</header>\n", subtitle(picture)));
    page += &figures(picture);
    page += &legend(picture);
    page += "<div class=\"wide\">\n";
    page += &drawing(picture, "");
    page + "</div>\n</body>\n</html>\n"
}

fn subtitle(picture: &Picture) -> String {
    let mover = match picture.root.board.side_to_move() {
        Mark::Circle => "○",
        Mark::Cross => "×",
    };
    let plies = match picture.plies {
        1 => "1 ply".to_owned(),
        plies => format!("{plies} plies"),
    };
    match &picture.search {
        None => format!("{mover} to move; the complete tree, {plies}"),
        Some((settings, _)) => format!(
            "{mover} to move; nodes visited and cut by {} {}, {plies}",
            settings.method.title(),
            settings.table.title(),
        ),
    }
}

fn figures(picture: &Picture) -> String {
    let root = &picture.root;
    let mut figures = vec![("perfect play", winner(root.value).to_owned())];
    if let Some((_, found)) = &picture.search {
        figures.push(("value", found.value.as_points().to_string()));
        figures.push(("best moves", found.best_moves.to_string()));
        figures.push(("nodes of the search", found.nodes.to_string()));
        for (name, fate) in [
            ("searched, shown", NodeStatus::Searched),
            ("evaluated, shown", NodeStatus::Evaluated),
            ("from the table, shown", NodeStatus::Table),
            ("cut, shown", NodeStatus::Cut),
        ] {
            figures.push((name, root.count(fate).to_string()));
        }
    } else {
        figures.push(("boards", root.count(NodeStatus::Solved).to_string()));
    }
    let mut html = String::from("<section class=\"figures\">\n");
    for (name, value) in figures {
        push(&mut html, format_args!("<div><span>{name}</span><b>{value}</b></div>\n"));
    }
    html + "</section>\n"
}

fn legend(picture: &Picture) -> String {
    let mut html = String::from(
        "<p class=\"legend\"><span><i class=\"circle\"></i>○ wins</span> \
         <span><i class=\"cross\"></i>× wins</span> <span><i class=\"draw\"></i>draw</span>",
    );
    if picture.search.is_some() {
        html += " <span><i class=\"table\"></i>from the table</span> \
                 <span><i class=\"cut\"></i>cut: never visited</span> \
                 <span>Values are seen from ○; ≤ and ≥ are bounds; ×2: searched twice.</span>";
    }
    html + "</p>\n"
}
