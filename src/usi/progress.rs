//! Detects from `info` lines whether the search of an engine makes progress.

/// Maximum plausible search depth. YaneuraOu's limit is 246 plies.
const MAX_DEPTH: u64 = 1000;

/// Tolerance in nodes beyond twice the limit: engines check the limit only at intervals.
const NODES_TOLERATED: u64 = 1_000_000;

pub(super) struct SearchProgress {
    max_nodes: u64,
    /// The highest number of nodes in an `info` line.
    nodes: Option<u64>,
    /// The highest depth in an `info` line.
    depth: Option<u64>,
}

impl SearchProgress {
    /// Progress of a search with a limit of `nodes`.
    pub(super) const fn new(nodes: u64) -> Self {
        let max_nodes = nodes.saturating_mul(2).saturating_add(NODES_TOLERATED);
        Self { max_nodes, nodes: None, depth: None }
    }

    /// Reads an `info` line. Returns whether it shows progress: more nodes, or a greater depth if the engine never
    /// reports nodes.
    pub(super) fn update(&mut self, line: &str) -> bool {
        let mut words = line.split_ascii_whitespace();
        let (mut nodes, mut depth) = (None, None);
        while let Some(word) = words.next() {
            match word {
                "nodes" => nodes = words.next().and_then(|number| number.parse().ok()),
                "depth" => depth = words.next().and_then(|number| number.parse().ok()),
                // The rest is free text or moves.
                "string" | "pv" => break,
                _ => {}
            }
        }
        let reports_no_nodes = self.nodes.is_none() && nodes.is_none();
        let is_deeper = depth > self.depth;
        let has_more_nodes = nodes > self.nodes;
        self.nodes = self.nodes.max(nodes);
        self.depth = self.depth.max(depth);
        has_more_nodes || reports_no_nodes && is_deeper
    }

    /// Whether the engine searches far beyond its limit.
    pub(super) fn is_excessive(&self) -> bool {
        self.nodes > Some(self.max_nodes) || self.depth > Some(MAX_DEPTH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(lines: &[&str]) -> Vec<bool> {
        let mut progress = SearchProgress::new(5);
        lines.iter().map(|line| progress.update(line)).collect()
    }

    #[test]
    fn only_more_nodes_are_progress() {
        let lines = [
            "info depth 1 nodes 10 score cp 1 pv 7g7f",
            "info depth 1 nodes 10 multipv 2",
            "info depth 9 nodes 9",
            "info depth 10",
            "info nodes 11",
            "info string nodes 99",
            "info nodes many",
            "info time 5 pv nodes 99",
        ];
        let expected = [true, false, false, false, true, false, false, false];
        assert_eq!(progress(&lines), expected);
    }

    #[test]
    fn without_nodes_a_greater_depth_is_progress() {
        let lines = ["info currmove 7g7f", "info depth 0", "info depth 0", "info depth 2"];
        assert_eq!(progress(&lines), [false, true, false, true]);
    }

    #[test]
    fn searches_far_beyond_their_limit_are_excessive() {
        for (line, is_excessive) in [
            ("info nodes 1000010", false),
            ("info nodes 1000011", true),
            ("info depth 1000", false),
            ("info depth 1001", true),
        ] {
            let mut progress = SearchProgress::new(5);
            progress.update(line);
            assert_eq!(progress.is_excessive(), is_excessive, "{line}");
        }
        assert!(!SearchProgress::new(u64::MAX).is_excessive());
    }
}
