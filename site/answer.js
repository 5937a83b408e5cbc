// What an answer of the solver means: {verdict, line, plies, tsume_plies, shortest, all}. `all` is missing before the
// search of all moves.

// The length as problems count it.
export function lengthOf({ all, line, tsume_plies, shortest }) {
  const best = all?.positions[0]?.moves.find((move) => move.usi === all.line[0]?.usi);
  const plies = best?.plies ?? tsume_plies ?? line.length;
  const isLeast = best?.shortest || (shortest && plies === tsume_plies);
  return { plies, isLeast };
}

export function heading(found, texts) {
  if (found.verdict !== "win") return texts[found.verdict];
  const { plies, isLeast } = lengthOf(found);
  return texts.win(plies, isLeast);
}

// How given moves differ from the solution: {} if they agree, else the first ply and the solution's step at it. `null`
// if there are no moves, or if they end early.
export function difference({ all, line }, given) {
  const found = all?.line ?? line;
  const at = given.findIndex((step, at) => step.usi !== found[at]?.usi);
  if (at >= 0) return { at, step: found[at] };
  return given.length === 0 || given.length < found.length ? null : {};
}

// The solution found first. Findings are kept only for the positions that it shares with the line of all moves.
export function agreeing({ line, all }) {
  const differs = line.findIndex((step, at) => step.usi !== all.line[at]?.usi);
  if (differs >= 0) all.positions.length = Math.min(all.positions.length, differs + 1);
  return line;
}

// The alternatives and undecided checks at a position of the solution.
export function others(found, at) {
  const here = found?.all?.positions[at];
  if (!here?.is_attack) return [];
  return here.moves.filter((move) => move.kind || move.verdict === "unknown");
}

// The moves of a position: the solution, then the shortest mates, undecided moves, and those that do not mate.
export function ordered(moves, isSolution) {
  const order = { win: 0, unknown: 1, no_mate: 2 };
  const rank = (move) => (isSolution(move) ? -1 : order[move.verdict]);
  return moves.toSorted((a, b) => rank(a) - rank(b) || (a.plies ?? 0) - (b.plies ?? 0));
}

// What is known about a move.
export function wordsOf(move, isSolution, texts) {
  const words = [];
  if (move.verdict === "win") words.push(texts.inPlies(move.plies, move.shortest));
  if (move.verdict === "no_mate") words.push(texts.escapes);
  if (move.verdict === "unknown") words.push(texts.uncertain, texts.stops[move.stop]);
  if (isSolution) words.push(texts.isSolution);
  if (move.kind) words.push(stateOf(move) === "flaw" ? texts.flaw : texts.alternative, texts.kinds[move.kind]);
  if (move.futile) words.push(texts.futile);
  if (move.longest) words.push(texts.longest);
  return [...new Set(words)];
}

export function stateOf(move) {
  if (move.kind) return move.essential ? "alternative" : "flaw";
  return move.verdict === "unknown" ? "uncertain" : "";
}
