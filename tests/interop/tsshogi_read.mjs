// Reads games with tsshogi, for tsshogi_games.py.
//
// node tsshogi_read.mjs FOLDER: FOLDER has tsshogi in its node_modules. Each line of standard input is a JSON array
// [path, format]; each line of standard output says in JSON what tsshogi reads from that file.

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

// What the special moves say: who wins, seen from the side to move, and why where that is not mate or resignation.
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
    // CSA: `%+ILLEGAL_ACTION`: Black broke a rule and loses. tsshogi 2.2.0 takes it the other way round.
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

// The comment on a move, without evaluations and summaries, whose words differ from format to format.
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

// The moves that could be played in the place of `first`, itself included, each with all that follows it.
function lines(first) {
  const all = [];
  for (let node = first; node; node = node.branch) {
    const own = node.move instanceof Move ? node.move.usi : endOfLine(node.move);
    all.push([own, comment(node), node.next ? lines(node.next) : []]);
  }
  return all;
}

// Only the summary of a KI2 file says how the game ended, and tsshogi knows no summary with a reason behind it.
function typeOf(special) {
  return special.name === "持将棋（最大手数）" ? "maxMoves" : special.type;
}

// An ending in a word that is the same in all formats: who broke a rule and what a draw is called differ.
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
