// Positions as SFEN, and pieces as pictures. A piece is its SFEN letters: `P`, `+p`. A board has 81 squares, from 9a.

const SET = { K: 2, R: 2, B: 2, G: 4, S: 4, N: 4, L: 4, P: 18 };
// In a hand, the strongest first.
export const HELD = ["R", "B", "G", "S", "N", "L", "P"];
const KANJI = {
  K: "玉", R: "飛", B: "角", G: "金", S: "銀", N: "桂", L: "香", P: "歩",
  "+R": "龍", "+B": "馬", "+S": "全", "+N": "圭", "+L": "杏", "+P": "と",
};
const ENGLISH = {
  K: "king", R: "rook", B: "bishop", G: "gold", S: "silver", N: "knight", L: "lance", P: "pawn",
  "+R": "dragon", "+B": "horse", "+S": "promoted silver", "+N": "promoted knight", "+L": "promoted lance", "+P": "promoted pawn",
};
export const RANKS = { ja: [..."一二三四五六七八九"], en: [..."abcdefghi"] };

export const kindOf = (piece) => piece.toUpperCase();
export const sideOf = (piece) => (kindOf(piece) === piece ? "b" : "w");
export const owned = (kind, side) => (side === "b" ? kind.toUpperCase() : kind.toLowerCase());
export const other = (side) => (side === "b" ? "w" : "b");
export const pieceName = (kind, language) => (language === "ja" ? KANJI : ENGLISH)[kind];
export const fileOf = (square) => 9 - (square % 9);
export const rankOf = (square) => Math.floor(square / 9);
export const squareOf = (usi) => (usi.charCodeAt(1) - 97) * 9 + 9 - Number(usi[0]);

export const usiOf = (square) => `${fileOf(square)}${RANKS.en[rankOf(square)]}`;

export function empty() {
  return { board: Array(81).fill(null), hands: { b: {}, w: {} }, side: "b", ply: 1 };
}

export function fromSfen(sfen) {
  const [ranks, side, hands, ply] = sfen.split(" ");
  const position = { ...empty(), side, ply: Number(ply ?? 1) };
  let square = 0;
  for (const [, piece, gap] of ranks.matchAll(/(\+?[a-z])|(\d)/gi)) {
    if (gap) square += Number(gap);
    else position.board[square++] = piece;
  }
  for (const [, count, piece] of hands.matchAll(/(\d*)([a-z])/gi)) {
    position.hands[sideOf(piece)][kindOf(piece)] = Number(count || 1);
  }
  return position;
}

export function toSfen({ board, hands, side, ply }) {
  const ranks = RANKS.en.map((_, rank) => {
    const row = board.slice(rank * 9, rank * 9 + 9).map((piece) => piece ?? " ").join("");
    return row.replace(/ +/g, (gap) => gap.length);
  });
  const held = ["b", "w"].flatMap((owner) => HELD.map((kind) => {
    const count = hands[owner][kind] ?? 0;
    return count === 0 ? "" : (count > 1 ? count : "") + owned(kind, owner);
  }));
  return `${ranks.join("/")} ${side} ${held.join("") || "-"} ${ply}`;
}

// The pieces of the set that are neither on the board nor in a hand.
export function boxOf({ board, hands }) {
  const box = { ...SET };
  for (const piece of board) if (piece) box[kindOf(piece).replace("+", "")] -= 1;
  for (const hand of [hands.b, hands.w]) for (const kind of HELD) box[kind] -= hand[kind] ?? 0;
  return box;
}

// The same position with the box in the defender's hand. Kings stay in the box.
export function withRest(position) {
  const box = boxOf(position), defender = other(position.side);
  const hand = { ...position.hands[defender] };
  for (const kind of HELD) hand[kind] = (hand[kind] ?? 0) + box[kind];
  return { ...position, hands: { ...position.hands, [defender]: hand } };
}

// The ranks, counted from the far side of their owner, on which pieces can no longer move.
const DEAD_RANKS = { P: 1, L: 1, N: 2 };

// Breaches of the rules in a position that can still be solved: files with two pawns of a side, and pieces that can
// never move.
export function breaches({ board }) {
  const placed = board.flatMap((piece, square) => (piece ? [{ piece, square }] : []));
  const pawns = placed.filter(({ piece }) => kindOf(piece) === "P").map(({ piece, square }) => piece + fileOf(square));
  const isDead = ({ piece, square }) =>
    (sideOf(piece) === "b" ? rankOf(square) : 8 - rankOf(square)) < DEAD_RANKS[kindOf(piece)];
  const doubled = pawns.filter((pawn, at) => pawns.indexOf(pawn) < at);
  return { twoPawns: [...new Set(doubled.map((pawn) => pawn[1]))], dead: placed.filter(isDead).map(({ square }) => square) };
}

// Moves a piece in a position that is set up. A piece that it replaces goes to the box.
// Returns whether it may move there.
export function place({ board, hands, side }, source, target) {
  let piece;
  if (source.place === "board") piece = board[source.square];
  else if (source.place === "box") piece = fromBox(source.kind, board, side);
  else piece = owned(source.kind, source.place);
  const kind = kindOf(piece).replace("+", "");
  if (kind === "K" && (target.place === "b" || target.place === "w")) return false;
  if (source.place === "board") board[source.square] = null;
  else if (source.place !== "box") hands[source.place][kind] -= 1;
  if (target.place === "board") board[target.square] = piece;
  else if (target.place !== "box") hands[target.place][kind] = (hands[target.place][kind] ?? 0) + 1;
  return true;
}

// The first king is the defender's, all other pieces are the attacker's.
function fromBox(kind, board, side) {
  const defender = owned("K", other(side));
  return kind === "K" && !board.includes(defender) ? defender : owned(kind, side);
}

// The next form of a piece in a diagram that is set up: promoted, then of the other side. A side has one king.
export function nextForm(piece, board) {
  const kind = kindOf(piece), side = sideOf(piece);
  if (kind === "K") {
    const turned = owned("K", other(side));
    return board.includes(turned) ? piece : turned;
  }
  if (kind[0] === "+") return owned(kind[1], other(side));
  return kind === "G" ? owned("G", other(side)) : owned(`+${kind}`, side);
}

// `far`: the piece of the player at the top.
export function picture(piece, far) {
  const kind = kindOf(piece);
  const classes = `piece${kind[0] === "+" ? " promoted" : ""}${far ? " far" : ""}`;
  return `<svg class="${classes}" viewBox="-18 -19 36 38" lang="ja" aria-hidden="true">`
    + `<path d="M0-17L11.5-12.5L15 16.5H-15L-11.5-12.5Z"/><text y="9.5">${KANJI[kind]}</text></svg>`;
}
