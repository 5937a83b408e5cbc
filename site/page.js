// The page: reads problems, lets the reader set up positions, and plays the mates that the worker finds.
import { TEXTS } from "./text.js";
import * as shogi from "./board.js";
import { dragging } from "./drag.js";
import { Failed, Solver, Stopped } from "./solver.js";

const EXAMPLE = "5pk2/7P1/4+R1+P1+b/8b/6R2/9/9/9/9 b 4g4s4n4l15p 1";
const $ = (id) => document.getElementById(id);

// ---- Language

const store = (key, value) => { try { localStorage.setItem(key, value); } catch { /* Not allowed here. */ } };
const stored = (key) => { try { return localStorage.getItem(key); } catch { return null; } };

let language = stored("kyokumen-language") ?? (navigator.language.startsWith("ja") ? "ja" : "en");
const t = () => TEXTS[language] ?? TEXTS.en;
const nameOf = (step) => (language === "ja" ? step.ja : step.en);
const alias = (step) => (language === "ja" ? step.usi : step.ja);

function translate() {
  document.documentElement.lang = language;
  document.title = `${t().title} – Kyokumen`;
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = t()[element.dataset.t];
  for (const element of document.querySelectorAll("[data-t-label]")) element.setAttribute("aria-label", t()[element.dataset.tLabel]);
  $("language").textContent = t().language;
  $("language").lang = language === "ja" ? "en" : "ja";
}

// ---- State

const solver = new Solver();
const bytesOf = (text) => new TextEncoder().encode(text);

let root = EXAMPLE;            // The position to solve.
let track = trackOf("record"); // The moves that are played on the board.
let ply = 0;
let solved = null;             // The answer of `solve`, and of `all_moves` as `solved.all`.
let wasStopped = false;
let problems = [];
let record = null;             // The track of the text and its ply, while a solution is shown.
let isEditing = false;
let isFlipped = false;
let picked = null;             // {place: "board" | "b" | "w" | "box", square, kind}
let undone = [];

// kind: "record" are moves of the text, "solution", or "variation".
function trackOf(kind, steps = [], start = root) {
  return { kind, steps, start };
}

const shownSfen = () => (ply === 0 ? track.start : track.steps[ply - 1].sfen);

function setRoot(sfen) {
  root = sfen;
  track = trackOf("record");
  ply = 0;
  forget();
}

function forget() {
  solver.stop();
  solved = null;
  wasStopped = false;
  reading = Promise.resolve(true);
  showError("");
}

function go(to) {
  ply = Math.max(0, Math.min(track.steps.length, to));
  picked = null;
  showMoveError("");
  // In a game the reader chooses the position to solve.
  if (track.kind === "record" && root !== shownSfen()) {
    root = shownSfen();
    forget();
  }
  draw();
}

// ---- Drawing

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const isFar = (side) => (side === "w") !== isFlipped;

function draw() {
  const position = shogi.fromSfen(shownSfen());
  drawBoard(position);
  drawHand($(isFlipped ? "near" : "far"), "w", position.hands.w, position.side === "w");
  drawHand($(isFlipped ? "far" : "near"), "b", position.hands.b, position.side === "b");
  drawHand($("box"), "box", shogi.boxOf(position), false);
  $("set-up").hidden = !isEditing;
  $("player").hidden = isEditing || track.steps.length === 0;
  $("edit").setAttribute("aria-pressed", isEditing);
  $("flip").setAttribute("aria-pressed", isFlipped);
  $("undo").disabled = undone.length === 0;
  $("side").value = shogi.fromSfen(root).side;
  for (const option of $("side").options) option.textContent = t().hand(option.value);
  drawPlayer();
  drawVerdict();
  drawLine();
  drawHere();
}

const squares = Array.from({ length: 81 }, (_, at) => {
  const button = element("button", { type: "button" });
  button.onclick = () => tap({ place: "board", square: squareAt(at) });
  return button;
});
// The square shown at a place of the board, and the other way round.
const squareAt = (at) => (isFlipped ? 80 - at : at);
$("board").append(...squares);

function drawBoard({ board }) {
  const step = track.steps[ply - 1];
  const [from, to] = step ? [step.usi.slice(0, 2), step.usi.slice(2, 4)] : [];
  const marks = [from && from[1] !== "*" ? shogi.squareOf(from) : -1, to ? shogi.squareOf(to) : -1];
  $("board").setAttribute("aria-label", `${t().board}: ${shownSfen()}`);
  squares.forEach((button, at) => {
    const square = squareAt(at), piece = board[square];
    const what = piece && t().piece(shogi.sideOf(piece), shogi.pieceName(shogi.kindOf(piece), language));
    button.setAttribute("aria-label", t().square(shogi.fileOf(square), shogi.rankOf(square), what));
    button.disabled = !isEditing && !isPlayable();
    button.classList.toggle("movable", isEditing && piece !== null);
    button.tabIndex = at === focused ? 0 : -1;
    button.classList.toggle("from", square === marks[0]);
    button.classList.toggle("to", square === marks[1]);
    button.setAttribute("aria-pressed", isPicked({ place: "board", square }));
    const shape = piece ? shogi.picture(piece, isFar(shogi.sideOf(piece))) : "";
    if (button.dataset.shape !== shape) {
      button.dataset.shape = shape;
      button.innerHTML = shape;
    }
  });
  const numbers = Array.from({ length: 9 }, (_, at) => (isFlipped ? at : 8 - at));
  $("files").replaceChildren(...numbers.map((file) => element("span", { textContent: file + 1 })));
  $("ranks").replaceChildren(...numbers.toReversed().map((rank) => element("span", { textContent: shogi.RANKS[rank] })));
}

const isPicked = ({ place, square, kind }) =>
  picked !== null && picked.place === place && picked.square === square && picked.kind === kind;

function drawHand(holder, place, counts, isToMove) {
  const label = element("button", { type: "button", className: "owner", textContent: place === "box" ? t().inBox : t().hand(place) });
  label.disabled = !isEditing;
  label.classList.toggle("turn", isToMove);
  label.onclick = () => tap({ place });
  const side = place === "box" ? shogi.fromSfen(root).side : place;
  const held = (place === "box" ? ["K", ...shogi.HELD] : shogi.HELD).filter((kind) => counts[kind] > 0);
  const pieces = held.map((kind) => {
    const button = element("button", { type: "button", className: isEditing ? "held movable" : "held" });
    button.innerHTML = shogi.picture(shogi.owned(kind, side), isFar(side));
    if (counts[kind] > 1) button.append(element("b", { textContent: counts[kind] }));
    button.setAttribute("aria-label", t().held(shogi.pieceName(kind, language), counts[kind]));
    button.setAttribute("aria-pressed", isPicked({ place, kind }));
    button.dataset.kind = kind;
    button.disabled = !isEditing && !isOwn({ place, kind });
    button.onclick = () => tap({ place, kind });
    return button;
  });
  holder.dataset.place = place;
  holder.replaceChildren(label, ...pieces);
}

function drawPlayer() {
  const plies = track.steps.length;
  $("ply").max = plies;
  $("ply").value = ply;
  $("ply").setAttribute("aria-valuetext", ply === 0 ? t().start : `${ply}: ${nameOf(track.steps[ply - 1])}`);
  $("first").disabled = $("back").disabled = ply === 0;
  $("forward").disabled = $("last").disabled = ply === plies;
}

function drawVerdict() {
  const facts = [t().toMove(shogi.fromSfen(root).side)];
  let verdict = "";
  if (solved) {
    const { all } = solved;
    const best = all?.positions[0]?.moves.find((move) => move.usi === all.line[0]?.usi);
    const plies = best?.plies ?? solved.tsume_plies ?? solved.line.length;
    const isLeast = best?.shortest || (solved.shortest && plies === solved.tsume_plies);
    verdict = solved.verdict === "win" ? t().win(plies, isLeast) : t()[solved.verdict];
    if (solved.stop) facts.push(t().stops[solved.stop]);
    if (solved.verdict === "win") facts.push(uniqueness(all), ...comparison());
    facts.push(t().shownNodes(solved.nodes + (all?.nodes ?? 0)));
  } else if (wasStopped) {
    verdict = t().unknown;
    facts.push(t().stops.cancelled);
  }
  $("verdict").textContent = verdict;
  $("details").textContent = facts.join(language === "ja" ? "　" : " · ");
}

function uniqueness(all) {
  if (!all) return t().notSearched;
  return all.flaws_only ? t().flaws : t()[all.uniqueness] ?? "";
}

// How the moves of the text differ from the solution.
function comparison() {
  const given = record?.track.steps.slice(record.ply) ?? [];
  if (given.length === 0) return [];
  const found = solved.all?.line ?? solved.line;
  const at = given.findIndex((step, at) => step.usi !== found[at]?.usi);
  if (at >= 0) return [t().differs(at + 1, nameOf(given[at]), found[at] && nameOf(found[at]))];
  return given.length < found.length ? [] : [t().agrees];
}

// The alternatives and undecided checks at a position of the solution.
function others(at) {
  const here = solved?.all?.positions[at];
  if (!here?.is_attack) return [];
  return here.moves.filter((move) => move.kind || move.verdict === "unknown");
}

function drawLine() {
  const { kind, steps } = track;
  $("line").hidden = steps.length === 0;
  $("line-title").textContent = t()[kind];
  $("main-line").hidden = kind !== "variation";
  $("to-record").hidden = kind === "record" || record === null;
  const items = steps.map((step, at) => {
    const button = element("button", { type: "button" }, `${at + 1}. ${nameOf(step)} `, element("small", { textContent: alias(step) }));
    button.onclick = () => go(at + 1);
    if (at + 1 === ply) button.setAttribute("aria-current", "step");
    const item = element("li", {}, button);
    if (kind === "solution" && others(at).length > 0) item.append(badges(at));
    return item;
  });
  $("moves").replaceChildren(...items);
  const current = items[ply - 1], list = $("moves");
  if (current && (current.offsetTop < list.scrollTop || current.offsetTop + current.offsetHeight > list.scrollTop + list.clientHeight)) {
    list.scrollTop = current.offsetTop - list.clientHeight / 2;
  }
}

function badges(at) {
  const mark = (what, name, title, onclick) =>
    Object.assign(element("button", { type: "button", className: `badge ${what}` }, `${t()[what]}: ${name}`), { title, onclick });
  const isUnknown = (move) => move.verdict === "unknown";
  const marks = others(at).filter((move) => !isUnknown(move)).map((move) =>
    mark(move.essential ? "alternative" : "flaw", nameOf(move), t().kinds[move.kind], () => play(at, move)));
  // There may be many. They are listed at their position.
  const unknown = others(at).filter(isUnknown);
  if (unknown.length > 0) marks.push(mark("uncertain", unknown.length, unknown.map(nameOf).join(" "), () => go(at)));
  return element("div", { className: "badges" }, ...marks);
}

// Plays a move of the solution's position `at`, and the mate after it.
function play(at, move) {
  const steps = [...solved.all.line.slice(0, at), ...move.line];
  track = trackOf("variation", steps);
  track.branch = at;
  go(at + 1);
}

// What the search of all moves has found at the shown position. It covers only the positions of the solution.
function findings() {
  const isOnLine = track.kind === "solution" || (track.kind === "variation" && ply <= track.branch);
  return isOnLine ? solved?.all?.positions[ply] : undefined;
}

// Lists all moves at the shown position of the solution.
function drawHere() {
  const here = findings();
  $("here").hidden = !here || here.moves.length === 0;
  if (!here) return;
  const isSolution = (move) => move.usi === solved.all.line[ply]?.usi;
  const order = { win: 0, unknown: 1, no_mate: 2 };
  const rank = (move) => (isSolution(move) ? -1 : order[move.verdict]);
  const moves = here.moves.toSorted((a, b) => rank(a) - rank(b) || (a.plies ?? 0) - (b.plies ?? 0));
  const isShown = (move) => !here.is_attack || move.verdict !== "no_mate";
  $("here-title").textContent = here.is_attack ? t().checks : t().replies;
  $("here-moves").replaceChildren(...moves.filter(isShown).map((move) => hereItem(move, isSolution(move))));
  const failing = moves.filter((move) => !isShown(move));
  $("here-failing").hidden = failing.length === 0;
  $("here-failing").querySelector("summary").textContent = t().failing(failing.length);
  $("here-failing").querySelector("p").textContent = failing.map(nameOf).join(language === "ja" ? "　" : ", ");
}

function hereItem(move, isSolution) {
  const words = [];
  if (move.verdict === "win") words.push(t().inPlies(move.plies, move.shortest));
  if (move.verdict === "no_mate") words.push(t().escapes);
  if (move.verdict === "unknown") words.push(t().uncertain, t().stops[move.stop]);
  if (isSolution) words.push(t().isSolution);
  if (move.kind) words.push(move.essential ? t().alternative : t().flaw, t().kinds[move.kind]);
  if (move.futile) words.push(t().futile);
  if (move.longest) words.push(t().longest);
  const at = ply;
  const name = element("button", { type: "button", disabled: move.line.length === 0 }, `${nameOf(move)} `, element("small", { textContent: alias(move) }));
  name.onclick = () => play(at, move);
  const state = move.kind ? (move.essential ? "alternative" : "flaw") : move.verdict === "unknown" ? "uncertain" : "";
  return element("li", { className: state }, name, element("span", { textContent: [...new Set(words)].join(language === "ja" ? "、" : ", ") }));
}

// ---- Solving

let searches = 0;

async function solve() {
  // Text that was typed, or is still being read.
  if ($("text").value.trim() && $("text").value !== readText) readPasted();
  if (!await reading) return;
  forget();
  const { board, side } = shogi.fromSfen(root);
  if (!board.includes(shogi.owned("K", shogi.other(side)))) {
    showError(t().noKing);
    return;
  }
  if (isEditing) setEditing(false);
  if ($("rest").checked) root = shogi.toSfen(shogi.withRest(shogi.fromSfen(root)));
  const start = track.kind === "record" && track.steps.length > 0 ? ply : -1;
  const request = { sfen: root, hash_mib: Number($("memory").value), nodes: $("nodes").value === "" ? null : Number($("nodes").value) };
  if (start < 0) { track = trackOf("record"); ply = 0; } else record = { track, ply };
  const number = ++searches;
  working("solving");
  draw();
  try {
    const found = await ask("solve", request, 0);
    if (found.verdict === "win" || start < 0) { track = trackOf("solution", found.line); ply = 0; }
    solved = found;
    draw();
    if (found.verdict === "win" && $("all").checked) {
      working("checking", found.nodes);
      const line = found.line.map((step) => step.usi);
      found.all = await ask("all_moves", { ...request, line, solution_nodes: found.nodes }, found.nodes);
      // A line that a limit has cut off is worse than the one found first.
      if (found.all.complete) moveTo(found.all.line);
      else found.all.line = agreeing(found);
    }
  } catch (error) {
    if (!(error instanceof Stopped)) showError(messageOf(error));
  } finally {
    // A newer search that has ended this one is still running.
    if (number === searches) {
      working(null);
      draw();
    }
  }
}

// Keeps the shown ply if the reader is on the old solution.
function moveTo(line) {
  if (track.kind !== "solution") return;
  track = trackOf("solution", line);
  ply = Math.min(ply, line.length);
}

// The solution found first. Findings are kept only for the positions that it shares with the line of all moves.
function agreeing({ line, all }) {
  const differs = line.findIndex((step, at) => step.usi !== all.line[at]?.usi);
  if (differs >= 0) all.positions.length = Math.min(all.positions.length, differs + 1);
  return line;
}

async function ask(call, request, before) {
  const show = (nodes) => { $("count").textContent = (before + nodes).toLocaleString("en"); };
  const answer = await solver.ask(call, bytesOf(JSON.stringify(request)), show);
  if (answer.error !== undefined) throw new Error(t().unsolvable(answer.error));
  return answer;
}

let phase = null;
function working(name, nodes = 0) {
  phase = name;
  $("work").hidden = !name;
  $("stop").disabled = !name;
  $("phase").textContent = name ? t()[name] : "";
  $("count").textContent = nodes.toLocaleString("en");
}

function stop() {
  wasStopped = !solved;
  solver.stop();
}

const messageOf = (error) => (error instanceof Failed ? t().failed(error.message) : error.message);

function showError(text) {
  $("error").hidden = !text;
  $("error").textContent = text;
}

// ---- Reading

let readText = "";                  // The text that was read last.
let reading = Promise.resolve(true); // Whether it could be read.

function readPasted() {
  readText = $("text").value;
  reading = read(bytesOf(readText));
}

// Returns whether the text could be read. An older request that a newer one ends does not count as unreadable. `bytes` may
// be a promise.
async function read(bytes, name = "") {
  setEditing(false);
  forget();
  let answer;
  try {
    answer = await solver.ask("read", await bytes);
    if (answer.error !== undefined) throw new Error(t().unreadable(answer.error));
  } catch (error) {
    if (error instanceof Stopped) return true;
    // Without the verdict of the position before.
    draw();
    showError(`${name && `${name}: `}${messageOf(error)}`);
    return false;
  }
  problems = answer.problems;
  $("choice").hidden = problems.length < 2;
  $("problem").replaceChildren(...problems.map((problem, at) => {
    const plies = problem.moves.length > 0 ? ` (${t().moves(problem.moves.length)})` : "";
    return element("option", { value: at, textContent: `${at + 1}. ${problem.name ?? ""}${plies}` });
  }));
  choose(0);
  if (answer.is_cut) showError(t().cut(problems.length));
  if (answer.skipped > 0) showError(t().skipped(answer.skipped, answer.first_fault));
  return true;
}

function choose(number) {
  const { sfen, moves, fault } = problems[number];
  setRoot(sfen);
  $("rest").checked = false;
  undone = [];
  record = null;
  track = trackOf("record", moves);
  if (fault) showError(t().ended(fault));
  draw();
}

function readFile(file) {
  $("text").value = readText = "";
  reading = read(file.arrayBuffer().then((buffer) => new Uint8Array(buffer)), file.name);
  return reading;
}

// ---- Setting up a position

function setEditing(to) {
  if (to === isEditing) return;
  isEditing = to;
  picked = null;
  if (to) {
    root = track.kind === "record" ? shownSfen() : root;
    if (track.kind === "record" || !solved) track = trackOf("record");
    ply = 0;
  }
}

function change(position) {
  undone.push(root);
  record = null;
  setRoot(shogi.toSfen(position));
}

function tap(target) {
  if (!isEditing) {
    pickOrPlay(target);
    return;
  }
  const position = shogi.fromSfen(root);
  const piece = target.place === "board" ? position.board[target.square] : null;
  const canPick = target.place === "board" ? piece !== null : target.kind !== undefined;
  if (picked === null) {
    if (canPick) picked = target;
  } else if (isPicked(target)) {
    if (target.place === "board") {
      position.board[target.square] = shogi.nextForm(piece, position.board);
      change(position);
    } else {
      picked = null;
    }
  } else if (canPick && (target.place === picked.place || (picked.place === "board" && target.kind !== undefined))) {
    // Another piece. To put a piece into a hand or the box, the reader taps the name of the hand or box.
    picked = target;
  } else if (target.place !== picked.place || target.place === "board") {
    move(position, target);
  }
  draw();
}

function move(position, target) {
  if (!shogi.place(position, picked, target)) return;
  picked = null;
  change(position);
}

// The piece that an element shows, if it can be moved.
function pieceAt(element) {
  const at = squares.indexOf(element.closest("#board button")), held = element.closest(".held");
  if (at < 0 && !held) return null;
  const source = held ? { place: held.closest(".hand").dataset.place, kind: held.dataset.kind } : { place: "board", square: squareAt(at) };
  const isThere = held || shogi.fromSfen(shownSfen()).board[source.square];
  return (isEditing ? isThere : isOwn(source)) ? source : null;
}

function drop(source, element) {
  const at = squares.indexOf(element.closest("#board button")), hand = element.closest(".hand");
  const target = at >= 0 ? { place: "board", square: squareAt(at) } : hand && { place: hand.dataset.place };
  if (!target || (target.place === source.place && (target.place !== "board" || target.square === source.square))) return;
  picked = source;
  if (isEditing) move(shogi.fromSfen(root), target);
  else if (target.place === "board") playTo(target.square);
  picked = null;
  draw();
}

// ---- Moves of the reader

// Whether the reader may make moves of the solution.
const isPlayable = () => solved !== null && track.kind !== "record";

// Whether a place holds a piece of the side to move.
function isOwn({ place, square, kind }) {
  const { board, side } = shogi.fromSfen(shownSfen());
  const owner = place === "board" ? board[square] && shogi.sideOf(board[square]) : kind && place;
  return isPlayable() && owner === side;
}

function pickOrPlay(target) {
  if (isOwn(target)) picked = isPicked(target) ? null : target;
  else if (picked && target.place === "board") playTo(target.square);
  draw();
}

// Moves the picked piece, if the search knows the move.
function playTo(square) {
  const usi = (picked.place === "board" ? shogi.usiOf(picked.square) : `${picked.kind}*`) + shogi.usiOf(square);
  const next = track.steps[ply], at = ply;
  const known = [next, ...(findings()?.moves ?? [])].filter((move) => move?.usi.replace("+", "") === usi);
  const promotes = (move) => move.usi.endsWith("+");
  const isPromoting = known.some(promotes) && (known.every(promotes) || confirm(t().promote));
  const move = known.find((move) => promotes(move) === isPromoting);
  if (move && move === next) go(at + 1);
  else if (move?.line.length > 0) play(at, move);
  else {
    picked = null;
    showMoveError(move?.verdict === "no_mate" ? t().noMateAfter(nameOf(move)) : t().notInSolution(usi));
  }
}

// An error about a move disappears with the next move. Others stay.
let isMoveError = false;
function showMoveError(text) {
  if (text || isMoveError) showError(text);
  isMoveError = text !== "";
}

let focused = 40;
function focusSquare(at) {
  focused = at;
  squares.forEach((button, number) => { button.tabIndex = number === at ? 0 : -1; });
  squares[at].focus();
}

// ---- Events

function toggleLanguage() {
  language = language === "ja" ? "en" : "ja";
  store("kyokumen-language", language);
  translate();
  if (phase) $("phase").textContent = t()[phase];
  draw();
}

const STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function onBoardKey(event) {
  const at = squares.indexOf(event.target), arrow = ARROWS[event.key];
  if (at < 0 || !isEditing) return;
  if (arrow) {
    const [x, y] = [(at % 9) + arrow[0], Math.floor(at / 9) + arrow[1]];
    if (x >= 0 && x < 9 && y >= 0 && y < 9) focusSquare(y * 9 + x);
  } else if (event.key === "Delete" || event.key === "Backspace") {
    const position = shogi.fromSfen(root), square = squareAt(at);
    if (position.board[square]) {
      position.board[square] = null;
      picked = null;
      change(position);
      draw();
    }
  } else return;
  event.preventDefault();
}

function onKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.key === "Escape" && picked) { picked = null; draw(); return; }
  const isField = event.target.matches("input, textarea, select");
  if (isEditing || isField || !(event.key in STEPS) || track.steps.length === 0) return;
  event.preventDefault();
  go(ply + STEPS[event.key]);
}

$("language").onclick = toggleLanguage;
$("first").onclick = () => go(0);
$("back").onclick = () => go(ply - 1);
$("forward").onclick = () => go(ply + 1);
$("last").onclick = () => go(track.steps.length);
$("ply").oninput = () => go(Number($("ply").value));
$("flip").onclick = () => { isFlipped = !isFlipped; draw(); };
$("edit").onclick = () => { setEditing(!isEditing); draw(); };
$("undo").onclick = () => { setRoot(undone.pop()); picked = null; draw(); };
$("side").onchange = () => { change({ ...shogi.fromSfen(root), side: $("side").value }); picked = null; draw(); };
$("clear").onclick = () => {
  change(shogi.empty());
  picked = null;
  $("rest").checked = true;
  draw();
};
$("solve").onclick = solve;
$("stop").onclick = stop;
$("main-line").onclick = () => {
  const at = Math.min(ply, track.branch);
  track = trackOf("solution", solved.all.line);
  go(at);
};
$("to-record").onclick = () => { ({ track, ply } = record); record = null; draw(); };
$("read").onclick = readPasted;
$("text").onpaste = () => setTimeout(readPasted);
$("text").onkeydown = (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("read").click(); };
$("example").onclick = () => { $("text").value = EXAMPLE; $("read").click(); };
$("file").onchange = async () => {
  const [file] = $("file").files;
  if (file) await readFile(file);
  $("file").value = "";
};
$("problem").onchange = () => choose(Number($("problem").value));
$("board").onkeydown = onBoardKey;
$("board").addEventListener("focusin", (event) => { focused = Math.max(0, squares.indexOf(event.target)); });
document.addEventListener("keydown", onKey);
dragging(pieceAt, drop);
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer.files, text = event.dataTransfer.getData("text");
  if (file) readFile(file);
  else if (text) { $("text").value = text; $("read").click(); }
});

translate();
draw();
if (!globalThis.KYOKUMEN && "serviceWorker" in navigator) navigator.serviceWorker.register("offline.js").catch(() => {});
