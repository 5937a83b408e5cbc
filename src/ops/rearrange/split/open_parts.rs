//! Writes the parts, all at once or one after another.

use std::collections::VecDeque;
use std::ops::Range;

use super::super::chunks::{BlockChunks, WholeChunk};
use super::Parts;
use super::part_limit::{ChunkSize, PartFill};
use crate::error::Error;
use crate::records::output_kind::{EncodedRecords, OutputKind};
use crate::records::sink::{FinishedOutputs, OutputPlan, Sinks};

pub(super) enum OpenParts {
    /// `dealt` is the number of chunks distributed.
    RoundRobin { open: Vec<Sinks>, dealt: usize },
    /// One part after another.
    InTurn(PartsInTurn),
}

pub(super) struct PartsInTurn {
    open: Option<Sinks>,
    waiting: VecDeque<OutputPlan>,
    finished: FinishedOutputs,
    ends: PartEnds,
}

pub(super) enum PartEnds {
    /// Each part ends before the record with this number.
    Numbers(VecDeque<u64>),
    Full(PartFill),
}

impl OpenParts {
    pub(super) fn round_robin(outputs: &[OutputPlan]) -> Result<Self, Error> {
        let open = outputs.iter().map(create).collect::<Result<_, _>>()?;
        Ok(Self::RoundRobin { open, dealt: 0 })
    }

    pub(super) fn in_turn(outputs: &[OutputPlan], ends: PartEnds) -> Result<Self, Error> {
        let mut waiting: VecDeque<_> = outputs.to_vec().into();
        let open = waiting.pop_front().as_ref().map(create).transpose()?;
        let finished = FinishedOutputs::default();
        Ok(Self::InTurn(PartsInTurn { open, waiting, finished, ends }))
    }
}

impl Parts<BlockChunks> for OpenParts {
    fn distribute(&mut self, chunks: BlockChunks) -> Result<(), Error> {
        let (open, dealt) = match self {
            Self::InTurn(parts) => return parts.distribute(&chunks),
            Self::RoundRobin { open, dealt } => (open, dealt),
        };
        let mut encoded = vec![EncodedRecords::default(); open.len()];
        for item in chunks.iter() {
            item.append_to(&mut encoded[*dealt % open.len()]);
            *dealt += 1;
        }
        for (sinks, encoded) in open.iter_mut().zip(encoded) {
            sinks.write(OutputKind::Kept, &encoded)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<FinishedOutputs, Error> {
        let (open, waiting, mut finished) = match self {
            Self::RoundRobin { open, .. } => (open, VecDeque::new(), FinishedOutputs::default()),
            Self::InTurn(PartsInTurn { open, waiting, finished, .. }) => {
                (open.into_iter().collect(), waiting, finished)
            }
        };
        for sinks in open.into_iter().map(Ok).chain(waiting.iter().map(create)) {
            finished = finished.and(sinks?.finish()?);
        }
        Ok(finished)
    }
}

pub(super) fn create(output: &OutputPlan) -> Result<Sinks, Error> {
    Sinks::create_with(std::slice::from_ref(output), true)
}

impl PartsInTurn {
    fn distribute(&mut self, chunks: &BlockChunks) -> Result<(), Error> {
        let mut from = 0;
        for chunk in 0..chunks.len() {
            while self.belongs_to_next_part(&chunks.get(chunk)) {
                self.write(chunks, from..chunk)?;
                from = chunk;
                self.begin_next()?;
            }
        }
        self.write(chunks, from..chunks.len())
    }

    /// Whether a chunk belongs to a part after the open one. Chunks beyond the counted chunks go to the last part.
    fn belongs_to_next_part(&mut self, chunk: &WholeChunk<'_>) -> bool {
        if self.waiting.is_empty() {
            return false;
        }
        match &mut self.ends {
            PartEnds::Numbers(ends) => ends.front().is_some_and(|&end| end <= chunk.number),
            PartEnds::Full(fill) => {
                !fill.add(ChunkSize { bytes: chunk.bytes.len() as u64, records: chunk.records })
            }
        }
    }

    fn write(&mut self, chunks: &BlockChunks, range: Range<usize>) -> Result<(), Error> {
        let mut encoded = EncodedRecords::default();
        chunks.append_to(&mut encoded, range);
        self.open.as_mut().map_or(Ok(()), |sinks| sinks.write(OutputKind::Kept, &encoded))
    }

    /// Finishes the open part, which flushes its buffers to disk, and opens the next.
    fn begin_next(&mut self) -> Result<(), Error> {
        if let PartEnds::Numbers(ends) = &mut self.ends {
            ends.pop_front();
        }
        let next = self.waiting.pop_front().as_ref().map(create).transpose()?;
        if let Some(sinks) = std::mem::replace(&mut self.open, next) {
            self.finished = std::mem::take(&mut self.finished).and(sinks.finish()?);
        }
        Ok(())
    }
}
