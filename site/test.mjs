// Tests the WebAssembly module: node site/test.mjs [FOLDER]
//
// Expected values are those of the project's other tests, or can be verified on the board.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

const folder = process.argv[2] ?? "target/site";
const module = new WebAssembly.Module(readFileSync(`${folder}/kyokumen_site.wasm`));
const reported = [];
const { exports: solver } = new WebAssembly.Instance(module, { env: { progress: (nodes) => reported.push(nodes) } });

function ask(call, request) {
  const bytes = typeof request === "string" ? Buffer.from(request) : request instanceof Uint8Array ? request : Buffer.from(JSON.stringify(request));
  const at = solver.input(bytes.length);
  new Uint8Array(solver.memory.buffer, at, bytes.length).set(bytes);
  const length = solver[call]();
  return JSON.parse(Buffer.from(solver.memory.buffer, solver.output(), length).toString());
}

const request = (sfen, more = {}) => ({ sfen, hash_mib: 16, nodes: 1_000_000, ...more });
const usi = (moves) => moves.map((move) => move.usi).join(" ");

function allMoves(sfen) {
  const solved = ask("solve", request(sfen));
  return ask("all_moves", request(sfen, { line: solved.line.map((step) => step.usi), solution_nodes: solved.nodes }));
}

// The checks that mate, with plies and kind, as in crates/search/tests/it/alternatives.rs.
function mates({ positions: [{ moves }] }) {
  return moves.filter((move) => move.verdict === "win").map((move) => [move.usi, move.plies, move.kind]).sort();
}

const GOLD = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1";
const MATED = "4k4/4G4/4P4/9/9/9/9/9/9 w 2r2b3g4s4n4l17p 2";
const START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
const LONG = "1+P2l4/2P6/9/p5+R2/2k6/B3+P3B/9/9/9 b r4g4s4n3l14p 1";
const FUTILE = "5pk2/7P1/4+R1+P1+b/8b/6R2/9/9/9/9 b 4g4s4n4l15p 1";

test("a mate in one", () => {
  const solved = ask("solve", request(GOLD));
  assert.deepEqual(solved, {
    verdict: "win", stop: null, plies: 1, tsume_plies: 1, shortest: true, nodes: 0, line: [{ usi: "G*5b", ja: "▲５二金", en: "G*5b", sfen: MATED }],
  });
});

test("a mate in three, without mates and undecided positions", () => {
  const three = ask("solve", request("1+R2g1b2/lp+P3p2/n2Sk1ns1/p1N2pg1l/3RpPP1p/P1pP3PP/3sP1n2/L3GKG1L/B8 b 2Psp 149"));
  assert.equal(three.verdict, "win");
  assert.equal(usi(three.line), "8a5a 5c4c 6c5d+");
  assert.deepEqual(three.line.map((step) => step.ja), ["▲５一龍", "△４三玉", "▲５四銀成"]);
  assert.deepEqual(three.line.map((step) => step.en), ["+Rx5a", "K-4c", "S-5d+"]);
  assert.deepEqual(ask("solve", request(START)), { verdict: "no_mate", stop: null, plies: 0, tsume_plies: null, shortest: false, nodes: 0, line: [] });
  const undecided = ask("solve", request(LONG, { nodes: 50 }));
  assert.deepEqual([undecided.verdict, undecided.stop, undecided.nodes], ["unknown", "nodes", 50]);
});

test("futile interpositions do not count", () => {
  const solved = ask("solve", request(FUTILE));
  assert.deepEqual([solved.verdict, solved.tsume_plies, solved.shortest], ["win", 3, true]);
  assert.deepEqual([solved.plies > 3, solved.line.length], [true, 3]);
});

// The figures of kyokumen solve --threads 1 --hash-mb 64 --json. They change with SOLVER_VERSION.
test("a long mate has the nodes and the line of the native solver, and reports its nodes", () => {
  reported.length = 0;
  const solved = ask("solve", request(LONG, { hash_mib: 64, nodes: null }));
  assert.deepEqual([solved.verdict, solved.nodes, solved.plies, solved.line.length], ["win", 215501, 109, 105]);
  assert.deepEqual([solved.tsume_plies, solved.shortest], [105, false]);
  assert.ok(reported.length > 2 && reported.every((nodes, at) => at === 0 || nodes >= reported[at - 1]), reported);
});

test("a unique solution", () => {
  const all = allMoves(GOLD);
  assert.deepEqual([all.uniqueness, all.flaws_only, all.complete], ["unique", false, true]);
  assert.equal(usi(all.line), "G*5b");
  assert.deepEqual(mates(all), [["G*5b", 1, null]]);
  assert.deepEqual(all.positions.map((position) => [position.is_attack, position.moves.length]), [[true, 7], [false, 0]]);
});

test("alternatives have the expected kinds", () => {
  const rook = allMoves("3pk4/9/4G4/9/9/9/9/9/9 b R 1");
  // The nodes are those of docs/tsume.md.
  assert.deepEqual([rook.uniqueness, rook.flaws_only, rook.nodes], ["not_unique", false, 1837]);
  const [solution] = rook.line;
  const distances = ["R*1a", "R*2a", "R*3a"].map((move) => [move, 1, move === solution.usi ? null : "distance"]);
  assert.deepEqual(mates(rook), [...distances, ["R*5b", 3, "other"]]);
  const other = rook.positions[0].moves.find((move) => move.usi === "R*5b");
  assert.deepEqual([other.ja, other.essential, usi(other.line)], ["▲５二飛", true, "R*5b 5a4a 5c4b"]);
  assert.equal(rook.positions[0].moves.find((move) => move.usi === "5c4b").verdict, "no_mate");
  const flaws = allMoves("4k4/9/4G4/9/R8/9/9/9/9 b - 1");
  assert.deepEqual([flaws.uniqueness, flaws.flaws_only], ["not_unique", true]);
});

test("without the nodes of the solution, the limit is the one of a search", () => {
  const undecided = (more) => {
    const { positions: [{ moves }] } = ask("all_moves", request("3pk4/9/4G4/9/9/9/9/9/9 b R 1", { line: ["R*1a"], ...more }));
    return moves.filter((move) => move.verdict === "unknown").length;
  };
  assert.deepEqual([undecided({ nodes: 1000, solution_nodes: 1 }), undecided({ nodes: null })], [0, 0]);
  assert.ok(undecided({ nodes: 1000 }) > 0);
});

test("western notation names the origin only if it is needed", () => {
  const [problem] = ask("read", "sfen 4k4/9/9/9/9/9/3GGG3/9/4K4 b - 1 moves 6g5f 5a5b 5g4f").problems;
  assert.deepEqual(problem.moves.map((move) => move.en), ["G6g-5f", "K-5b", "G5g-4f"]);
  const [promotion] = ask("read", "sfen 4k4/9/9/8P/9/9/9/9/4K4 b - 1 moves 1d1c").problems;
  assert.deepEqual(promotion.moves.map((move) => [move.en, move.ja]), [["P-1c=", "▲１三歩不成"]]);
});

const BOARD = `+---------------------------+
| ・ ・ ・ ・v玉 ・ ・ ・ ・|一
| ・ ・ ・ ・ ・ ・ ・ ・ ・|二
| ・ ・ ・ ・ 歩 ・ ・ ・ ・|三
${"| ・ ・ ・ ・ ・ ・ ・ ・ ・|\n".repeat(6)}+---------------------------+
`;
const BOD = `後手の持駒：飛二　角二　金三　銀四　桂四　香四　歩十七
  ９ ８ ７ ６ ５ ４ ３ ２ １
${BOARD}先手の持駒：金
`;
const KIF = `# ---- Kifu for Windows ----
作品名：一手詰
手合割：その他　
${BOD}手数----指手---------消費時間--
   1 ５二金打     ( 0:00/00:00:00)
   2 詰み         ( 0:00/00:00:00)
`;
const CSA = `V2.2
P1 *  *  *  * -OU *  *  *  * 
P2 *  *  *  *  *  *  *  *  * 
P3 *  *  *  * +FU *  *  *  * 
${[4, 5, 6, 7, 8, 9].map((rank) => `P${rank} *  *  *  *  *  *  *  *  * \n`).join("")}P+00KI
P-00HI00HI00KA00KA00KI00KI00KI00GI00GI00GI00GI00KE00KE00KE00KE00KY00KY00KY00KY${"00FU".repeat(17)}
+
+0052KI
%TSUMI
`;

test("one problem in several formats", () => {
  for (const [text, moves, name] of [
    [GOLD, "", null], [`sfen ${GOLD}`, "", null], [`position sfen ${GOLD} moves G*5b`, "G*5b", null],
    [`# a comment\n\n${GOLD}\t一手詰\n`, "", "一手詰"], [BOD, "", null], [KIF, "G*5b", "一手詰"], [CSA, "G*5b", null],
    [KIF.replaceAll("\n", "\r\n"), "G*5b", "一手詰"], [`作品名：一手詰\n${BOD}`, "", "一手詰"],
    [`先手：甲\n後手：乙\n${BOD}`, "", "甲 – 乙"], [`先手：甲\n後手：乙\n${BOD}手数----指手--\n   1 ５二金打\n`, "G*5b", "甲 – 乙"],
    [`作品名：一手詰\n${BOD}▲５二金\n`, "G*5b", "一手詰"],
    // Editors on Windows write a byte order mark.
    ...[GOLD, BOD, CSA].map((text) => [`\ufeff${text}`, text === CSA ? "G*5b" : "", null]), [`\ufeff${KIF}`, "G*5b", "一手詰"],
    [`\ufeffposition sfen ${GOLD} moves G*5b`, "G*5b", null],
  ]) {
    const { problems: [problem, ...more], is_cut } = ask("read", text);
    assert.equal(more.length, 0, text);
    assert.deepEqual([problem.sfen, usi(problem.moves), problem.name, problem.fault, is_cut], [GOLD, moves, name, null, false], text);
  }
});

test("Shift_JIS, several problems, and games", () => {
  const shiftJis = readFileSync("data/sample.kif");
  assert.ok(!shiftJis.includes(Buffer.from("手")), "it is not UTF-8");
  const { problems } = ask("read", shiftJis);
  assert.ok(problems.length > 1);
  assert.equal(problems[0].sfen, START);
  assert.deepEqual([problems[0].moves[0].ja, problems[0].fault], ["▲４八玉", null]);
  const { problems: again } = ask("read", readFileSync("data/sample.csa"));
  assert.deepEqual(usi(again[0].moves), usi(problems[0].moves));
  const { problems: [marked] } = ask("read", Buffer.concat([Buffer.from("\ufeff"), readFileSync("data/sample.jkf")]));
  assert.deepEqual(usi(marked.moves), usi(problems[0].moves));
  assert.equal(ask("read", readFileSync("data/sample.bod")).problems.length, 1000);
  assert.equal(ask("read", readFileSync("data/sample.bod")).is_cut, true);
  assert.equal(ask("read", `${GOLD}\n${START}\n`).problems.length, 2);
});

test("errors have the message of the reader and the line", () => {
  for (const [text, error] of [
    ["4k4/9/9/9/9/9/9/9/4K5 b - 1", "line 1: character 21: rank i has 10 squares, expected 9"],
    ["", "the text contains no position"],
    [BOD.replace("| ・ ・ ・ ・ 歩", "| ・ ・ ・ ・ 王王"), /^line 6: expected .* found "\| ・ ・ ・ ・ 王王/],
    [CSA.replace("-OU", "-XX"), /^line 2: expected .* found "P1 \*  \*  \*  \* -XX/],
    ["no position", "line 1: character 2: found 'o', expected a piece, a digit from 1 to 9, or +"],
  ]) {
    const answer = ask("read", text);
    assert.deepEqual(Object.keys(answer), ["error"], text);
    if (error instanceof RegExp) assert.match(answer.error, error);
    else assert.equal(answer.error, error);
  }
  const fault = ask("read", `position sfen ${GOLD} moves G*5c`).problems[0].fault;
  assert.equal(fault, "G*5c is illegal");
  assert.equal(ask("solve", request("9/9/4P4/9/9/9/9/9/4K4 b G 1")).error, "White has no king, so there is nothing to mate");
  const attacked = "the White king on 5a is attacked from 5b although White is not to move";
  assert.equal(ask("solve", request("4k4/4G4/9/9/9/9/9/9/9 b - 1")).error, attacked);
});

test("unreadable problems are skipped", () => {
  const { problems, skipped, first_fault } = ask("read", `${GOLD}\nbad\n${START}\n`);
  assert.deepEqual([problems.length, skipped, first_fault.startsWith("line 2: ")], [2, 1, true]);
  const rest = ask("read", BOD.replace(/後手の持駒：.*/, "後手の持駒：残り全部"));
  assert.equal(rest.problems[0].sfen, GOLD);
});

test("memory is used again", () => {
  const solved = () => ask("solve", request(LONG, { nodes: 200_000 }));
  solved();
  const bytes = solver.memory.buffer.byteLength;
  for (let round = 0; round < 3; round++) solved();
  assert.equal(solver.memory.buffer.byteLength, bytes);
});
