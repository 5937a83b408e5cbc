//! The children of unsolved nodes, kept between visits, so that moves are generated and weighed once.
//!
//! Only a convenience: what is not here is made again. So when the room is full, everything goes.

/// Names what was kept for a node; may be out of date.
pub(super) type Ticket = u32;
/// Nothing was kept.
pub(super) const NO_TICKET: Ticket = Ticket::MAX;

struct Block<H> {
    key: u64,
    hand: H,
    /// Plies that were left below the node, on which disproofs by depth depend.
    plies_left: u16,
    count: u16,
    first: u32,
}

/// A bounded store of children by node.
pub(super) struct Kept<H, C> {
    blocks: Vec<Block<H>>,
    children: Vec<C>,
}

/// On average a node has this many children; it only decides how the room is shared out.
const CHILDREN_PER_NODE: usize = 4;

impl<H: Copy + Eq, C: Copy> Kept<H, C> {
    /// Room for at most `bytes`.
    pub(super) fn new(bytes: usize) -> Self {
        let node_bytes = size_of::<Block<H>>() + CHILDREN_PER_NODE * size_of::<C>();
        let nodes = (bytes / node_bytes).clamp(256, NO_TICKET as usize / CHILDREN_PER_NODE);
        Self {
            blocks: Vec::with_capacity(nodes),
            children: Vec::with_capacity(nodes * CHILDREN_PER_NODE),
        }
    }

    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.children.clear();
    }

    fn index(&self, ticket: Ticket, key: u64, hand: H) -> Option<usize> {
        let index = ticket as usize;
        let block = self.blocks.get(index)?;
        (block.key == key && block.hand == hand).then_some(index)
    }

    /// The children of a node, and the plies that were left when they were kept.
    #[inline]
    pub(super) fn find(&self, ticket: Ticket, key: u64, hand: H) -> Option<(&[C], u16)> {
        let block = &self.blocks[self.index(ticket, key, hand)?];
        let first = block.first as usize;
        Some((&self.children[first..first + usize::from(block.count)], block.plies_left))
    }

    /// Keeps the children of a node, in their old place if `ticket` still names it.
    #[inline]
    pub(super) fn keep(
        &mut self,
        ticket: Ticket,
        key: u64,
        hand: H,
        plies_left: u16,
        children: &[C],
    ) -> Ticket {
        let Ok(count) = u16::try_from(children.len()) else { return NO_TICKET };
        if let Some(index) = self.index(ticket, key, hand)
            && self.blocks[index].count == count
        {
            self.blocks[index].plies_left = plies_left;
            let first = self.blocks[index].first as usize;
            self.children[first..first + children.len()].copy_from_slice(children);
            return ticket;
        }
        let full = self.blocks.len() == self.blocks.capacity()
            || self.children.len() + children.len() > self.children.capacity();
        if full {
            self.clear();
        }
        if children.len() > self.children.capacity() {
            return NO_TICKET;
        }
        let (Ok(ticket), Ok(first)) =
            (Ticket::try_from(self.blocks.len()), u32::try_from(self.children.len()))
        else {
            return NO_TICKET;
        };
        self.blocks.push(Block { key, hand, plies_left, count, first });
        self.children.extend_from_slice(children);
        ticket
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_kept_until_the_room_is_full() {
        let mut kept: Kept<u32, u64> = Kept::new(0);
        let ticket = kept.keep(NO_TICKET, 7, 1, 20, &[1, 2, 3]);
        assert_eq!(kept.find(ticket, 7, 1), Some((&[1, 2, 3][..], 20)));
        assert_eq!(kept.find(ticket, 7, 2), None, "another hand");
        assert_eq!(kept.find(NO_TICKET, 7, 1), None);
        assert_eq!(kept.keep(ticket, 7, 1, 18, &[4, 5, 6]), ticket);
        assert_eq!(kept.find(ticket, 7, 1), Some((&[4, 5, 6][..], 18)));
        for key in 8..400 {
            kept.keep(NO_TICKET, key, 1, 20, &[key; 4]);
        }
        assert_eq!(kept.find(ticket, 7, 1), None, "the room was full and is used again");
    }
}
