// Reads games with tsshogi, for tsshogi_games.py.
//
// usage: node tsshogi_read.mjs FOLDER, where FOLDER has tsshogi in its node_modules. Each line of standard input is a
// JSON array [path, format]. Each line of standard output is the game or the error that tsshogi reads, as JSON.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const { importKIF, importKI2, importCSA, importJKFString, Color, Move } = createRequire(
  join(process.argv[2], "package.json"),
)("tsshogi");

// `shift_jis` of the Encoding standard is Microsoft's code page 932.
const READERS = {
  kif: [importKIF, "shift_jis"],
  kifu: [importKIF, "utf-8"],
  ki2: [importKI2, "shift_jis"],
  ki2u: [importKI2, "utf-8"],
  csa: [importCSA, "utf-8"],
  jkf: [importJKFString, "utf-8"],
};

// The special moves: the result from the side to move, and the ending if it is not mate or resignation.
const ENDINGS = {
  resign: ["loss", null],
  mate: ["loss", null],
  timeout: ["loss", "time_up"],
  foulLose: ["loss", "illegal_move"],
  foulWin: ["win", "illegal_move"],
  enteringOfKing: ["win", "declaration"],
  repetitionDraw: ["draw", "repetition"],
  impass: ["draw", "impasse"],
  draw: ["draw", "impasse"],
  maxMoves: ["draw", "move_limit"],
  interrupt: [null, "interruption"],
  noMate: [null, null],
};

function read(path, format) {
  const [parse, encoding] = READERS[format];
  const text = new TextDecoder(encoding, { fatal: true }).decode(readFileSync(path));
  const record = parse(text);
  if (record instanceof Error) {
    return { error: `${record.name}: ${record.message}` };
  }
  const game = mainLine(record);
  const fouler = /%?([-+])ILLEGAL_ACTION/.exec(text);
  if (fouler && (format === "csa" || format === "jkf") && game.ending === "illegal_move") {
    // In CSA, `%+ILLEGAL_ACTION` means that Black broke a rule and loses. tsshogi 2.2.0 reads the opposite.
    game.winner = fouler[1] === "+" ? "white" : "black";
  }
  return { ...game, headers: headers(record.metadata), lines: record.first.next ? lines(record.first.next) : [] };
}

function mainLine(record) {
  record.resetAllBranchSelection();
  const game = { start: record.initialPosition.sfen, moves: [], times: [], winner: null, ending: null };
  game.comments = [comment(record.first)];
  for (const node of record.moves.slice(1)) {
    if (node.move instanceof Move) {
      game.moves.push(node.move.usi);
    } else {
      const [outcome, ending] = ENDINGS[typeOf(node.move)] ?? [null, `unknown: ${node.move.name ?? node.move.type}`];
      const turn = node.prev.nextColor;
      const other = turn === Color.BLACK ? Color.WHITE : Color.BLACK;
      game.winner = { win: turn, loss: other, draw: "draw" }[outcome] ?? null;
      game.ending = ending;
    }
    game.times.push(node.elapsedMs);
    game.comments.push(comment(node));
  }
  return game;
}

// The comment on a move, without evaluations and summaries, because their words depend on the format.
function comment(node) {
  const isOther = /^([*#](評価値=| )[-+]?[0-9]|summary:)/;
  return node.comment.split("\n").filter((line) => !isOther.test(line)).join("\n").trim();
}

function headers(metadata) {
  const standard = [...metadata.standardMetadataKeys].map((key) => [key, metadata.getStandardMetadata(key)]);
  const custom = [...metadata.customMetadataKeys].map((key) => [key, metadata.getCustomMetadata(key)]);
  const filled = [...standard, ...custom].filter(([, value]) => value.trim() !== "");
  return Object.fromEntries(filled.map(([key, value]) => [key, value.trim()]));
}

// `first` and its alternatives, each with all lines that follow it.
function lines(first) {
  const all = [];
  for (let node = first; node; node = node.branch) {
    const own = node.move instanceof Move ? node.move.usi : endOfLine(node.move);
    all.push([own, comment(node), node.next ? lines(node.next) : []]);
  }
  return all;
}

// In KI2 only the summary contains the ending, and tsshogi knows no summary with an added reason.
function typeOf(special) {
  return special.name === "持将棋（最大手数）" ? "maxMoves" : special.type;
}

// The ending in a word that all formats share. Formats differ in the side that broke a rule and in the names of draws.
function endOfLine(special) {
  const [outcome, ending] = ENDINGS[typeOf(special)] ?? [null, special.name];
  const same = { impasse: "draw", move_limit: "draw", illegal_move: "foul" };
  return same[ending] ?? ending ?? outcome;
}

for await (const line of createInterface({ input: process.stdin })) {
  const [path, format] = JSON.parse(line);
  let answer;
  try {
    answer = read(path, format);
  } catch (error) {
    answer = { error: String(error) };
  }
  console.log(JSON.stringify(answer));
}
