//! Whether an engine that searches makes progress, by its `info` lines.

/// No engine searches deeper than this. YaneuraOu's limit is 246 plies.
const MOST_DEPTH: u64 = 1000;

/// Nodes that an engine may search beyond twice its limit: engines look at the limit only now and then.
const NODES_TOLERATED: u64 = 1_000_000;

pub(super) struct SearchProgress {
    most_nodes: u64,
    /// The largest number of nodes in an `info` line.
    nodes: Option<u64>,
    /// The greatest depth in an `info` line.
    depth: Option<u64>,
}

impl SearchProgress {
    /// A search that is told to end after `nodes`.
    pub(super) const fn of_search(nodes: u64) -> Self {
        let most_nodes = nodes.saturating_mul(2).saturating_add(NODES_TOLERATED);
        Self { most_nodes, nodes: None, depth: None }
    }

    /// Takes an `info` line. Returns whether it shows progress: more nodes, or a greater depth if the engine never
    /// names its nodes.
    pub(super) fn take(&mut self, line: &str) -> bool {
        let mut words = line.split_ascii_whitespace();
        let (mut nodes, mut depth) = (None, None);
        while let Some(word) = words.next() {
            match word {
                "nodes" => nodes = words.next().and_then(|number| number.parse().ok()),
                "depth" => depth = words.next().and_then(|number| number.parse().ok()),
                // Text and moves may look like anything.
                "string" | "pv" => break,
                _ => {}
            }
        }
        let names_no_nodes = self.nodes.is_none() && nodes.is_none();
        let is_deeper = depth > self.depth;
        let has_more_nodes = nodes > self.nodes;
        self.nodes = self.nodes.max(nodes);
        self.depth = self.depth.max(depth);
        has_more_nodes || names_no_nodes && is_deeper
    }

    /// Whether the engine searches far beyond what was asked.
    pub(super) fn is_excessive(&self) -> bool {
        self.nodes > Some(self.most_nodes) || self.depth > Some(MOST_DEPTH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(lines: &[&str]) -> Vec<bool> {
        let mut progress = SearchProgress::of_search(5);
        lines.iter().map(|line| progress.take(line)).collect()
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
    fn a_search_may_exceed_its_limit_only_so_far() {
        for (line, is_excessive) in [
            ("info nodes 1000010", false),
            ("info nodes 1000011", true),
            ("info depth 1000", false),
            ("info depth 1001", true),
        ] {
            let mut progress = SearchProgress::of_search(5);
            progress.take(line);
            assert_eq!(progress.is_excessive(), is_excessive, "{line}");
        }
        assert!(!SearchProgress::of_search(u64::MAX).is_excessive());
    }
}
