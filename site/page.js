// The page: reads problems, lets the reader set up positions, and plays the mates that the worker finds.
import { TEXTS } from "./text.js";
import * as shogi from "./board.js";
import { dragging } from "./drag.js";
import { Solver, Stopped } from "./solver.js";
import * as answer from "./answer.js";

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

let root = EXAMPLE;            // The position to solve, as it was set up.
// The answer of `solve`. `solved.all` is the answer of `all_moves`, `solved.sfen` the position.
let solved = null;
let track = trackOf("record"); // The moves that are played on the board.
let ply = 0;
let wasStopped = false;
let problems = [];
let record = null;             // The track of the text and its ply, while a solution is shown.
let isEditing = false;
let isFlipped = false;
let picked = null;             // {place: "board" | "b" | "w" | "box", square, kind}
let undone = [];

// kind: "record" are moves of the text, "solution", or "variation".
function trackOf(kind, steps = [], start = solved?.sfen ?? root) {
  return { kind, steps, start };
}

function shownSfen() {
  if (isEditing) return root;
  return ply === 0 ? track.start : track.steps[ply - 1].sfen;
}

// The position with the pieces that the defender holds although they are shown in the box.
const posed = () => ($("rest").checked ? shogi.toSfen(shogi.withRest(shogi.fromSfen(root))) : root);

function setRoot(sfen) {
  root = sfen;
  forget();
  track = trackOf("record");
  ply = 0;
  // The address survives a reload of the page.
  history.replaceState(null, "", `#${root.replaceAll(" ", "_")}${$("rest").checked ? "_rest" : ""}`);
}

function forget() {
  solver.stop();
  solved = null;
  wasStopped = false;
  reading = Promise.resolve(true);
  showError(null);
}

function go(to) {
  setEditing(false);
  ply = Math.max(0, Math.min(track.steps.length, to));
  picked = null;
  showMoveError(null);
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
  $("ranks").replaceChildren(...numbers.toReversed().map((rank) => element("span", { textContent: shogi.RANKS[language][rank] })));
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
  const facts = [t().toMove(shogi.fromSfen(root).side), ...breaches()];
  if (solved?.stop) facts.push(t().stops[solved.stop]);
  if (solved?.verdict === "win") {
    if (solved.plies > answer.lengthOf(solved).plies) facts.push(t().pliesOfFirst(solved.plies));
    if (!phase || solved.all) facts.push(uniqueness(solved.all));
    facts.push(...comparison());
  }
  if (!solved && wasStopped) facts.push(t().stops.cancelled);
  // A search shows its nodes below.
  if (!phase && (solved || wasStopped)) facts.push(t().shownNodes(nodes));
  $("verdict").textContent = solved ? answer.heading(solved, t()) : wasStopped ? t().unknown : "";
  $("details").textContent = facts.join(language === "ja" ? "　" : " · ");
}

function breaches() {
  const { twoPawns, dead } = shogi.breaches(shogi.fromSfen(root));
  return [twoPawns.length > 0 && t().twoPawns(twoPawns), dead.length > 0 && t().dead(dead.map(shogi.usiOf))].filter(Boolean);
}

function uniqueness(all) {
  if (!all) return wasStopped ? t().searchStopped : t().notSearched;
  return all.flaws_only ? t().flaws : t()[all.uniqueness] ?? "";
}

function comparison() {
  const given = record?.track.steps.slice(record.ply) ?? [];
  const found = answer.difference(solved, given);
  if (!found) return [];
  return [found.at === undefined ? t().agrees : t().differs(found.at + 1, nameOf(given[found.at]), found.step && nameOf(found.step))];
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
    if (kind === "solution" && answer.others(solved, at).length > 0) item.append(badges(at));
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
  const marks = answer.others(solved, at).filter((move) => !isUnknown(move)).map((move) =>
    mark(move.essential ? "alternative" : "flaw", nameOf(move), t().kinds[move.kind], () => play(at, move)));
  // There may be many. They are listed at their position.
  const unknown = answer.others(solved, at).filter(isUnknown);
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
  const moves = answer.ordered(here.moves, isSolution);
  const isShown = (move) => !here.is_attack || move.verdict !== "no_mate";
  $("here-title").textContent = here.is_attack ? t().checks : t().replies;
  $("here-moves").replaceChildren(...moves.filter(isShown).map((move) => hereItem(move, isSolution(move))));
  const failing = moves.filter((move) => !isShown(move));
  $("here-failing").hidden = failing.length === 0;
  $("here-failing").querySelector("summary").textContent = t().failing(failing.length);
  $("here-failing").querySelector("p").textContent = failing.map(nameOf).join(language === "ja" ? "　" : ", ");
}

function hereItem(move, isSolution) {
  const at = ply;
  const name = element("button", { type: "button", disabled: move.line.length === 0 }, `${nameOf(move)} `, element("small", { textContent: alias(move) }));
  name.onclick = () => play(at, move);
  const words = answer.wordsOf(move, isSolution, t());
  return element("li", { className: answer.stateOf(move) }, name, element("span", { textContent: words.join(language === "ja" ? "、" : ", ") }));
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
    showError(() => t().noKing);
    return;
  }
  setEditing(false);
  const limit = $("nodes").value;
  const request = { sfen: posed(), hash_mib: Number($("memory").value), nodes: Number(limit) || null };
  const start = track.kind === "record" && track.steps.length > 0 ? ply : -1;
  if (start < 0) { track = trackOf("record", [], request.sfen); ply = 0; } else record = { track, ply };
  const number = ++searches;
  working("solving");
  showNodes(0);
  draw();
  try {
    const found = await ask("solve", request, 0);
    solved = { ...found, sfen: request.sfen };
    if (found.verdict === "win" || start < 0) { track = trackOf("solution", found.line); ply = 0; }
    const problem = problems[$("problem").value];
    if (problem?.sfen === request.sfen) problem.solved = solved;
    if (found.verdict === "win" && $("all").checked) {
      working("checking");
      draw();
      const line = found.line.map((step) => step.usi);
      const solution_nodes = limit === "auto" ? found.nodes : null;
      solved.all = await ask("all_moves", { ...request, line, solution_nodes }, found.nodes);
      // A line that a limit has cut off is worse than the one found first.
      if (solved.all.complete) moveTo(solved.all.line);
      else solved.all.line = answer.agreeing(solved);
    }
  } catch (error) {
    if (!(error instanceof Stopped)) showError(() => messageOf(error));
  } finally {
    // A newer search that has ended this one is still running.
    if (number === searches) {
      working(null);
      drawProblems();
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

async function ask(call, request, before) {
  const found = await solver.ask(call, bytesOf(JSON.stringify(request)), (count) => showNodes(before + count));
  if (found.error !== undefined) throw refusal("unsolvable", found.error);
  showNodes(before + found.nodes);
  return found;
}

let phase = null;
function working(name) {
  phase = name;
  $("work").hidden = !name;
  $("stop").disabled = !name;
  $("phase").textContent = name ? t()[name] : "";
}

let nodes = 0; // Of the last search.
function showNodes(count) {
  nodes = count;
  $("count").textContent = count.toLocaleString("en");
}

function stop() {
  if (phase) wasStopped = true;
  solver.stop();
}

// `kind` names the text about the error.
const refusal = (kind, why) => Object.assign(new Error(why), { kind });
const messageOf = ({ kind, message }) => t()[kind]?.(message) ?? message;

// `text` returns the message in the language of the page, which may change.
let errorText = null;
function showError(text) {
  errorText = text;
  $("error").hidden = !text;
  $("error").textContent = text?.() ?? "";
}

// ---- Reading

let readText = "";                  // The text that was read last.
let reading = Promise.resolve(true); // Whether it could be read.

function readPasted() {
  readText = $("text").value;
  reading = read(bytesOf(readText));
}

// Returns whether the text could be read. An older request that a newer one ends does not count as unreadable. `bytes`
// may be a promise.
async function read(bytes, name = "") {
  stop();
  showError(null);
  let found;
  try {
    const text = await bytes;
    if (isBinary(text)) throw refusal("binary");
    found = await solver.ask("read", text);
    if (found.error !== undefined) throw refusal("unreadable", found.error);
  } catch (error) {
    if (error instanceof Stopped) return true;
    showError(() => `${name && `${name}: `}${messageOf(error)}\n${t().kept}`);
    return false;
  }
  problems = found.problems;
  $("problem").replaceChildren(...problems.map((_, at) => element("option", { value: at })));
  choose(0);
  if (found.is_cut) showError(() => t().cut(problems.length));
  if (found.skipped > 0) showError(() => t().skipped(found.skipped, found.first_fault));
  return true;
}

// Whether bytes are not a text: a text in a supported encoding has no control characters before the tab.
const isBinary = (bytes) => bytes.some((byte) => byte < 9);

function drawProblems() {
  $("choice").hidden = problems.length < 2;
  problems.forEach(({ name, moves, solved }, at) => {
    const facts = [moves.length > 0 && t().moves(moves.length), solved && answer.heading(solved, t())].filter(Boolean);
    $("problem").options[at].textContent = `${at + 1}. ${name ?? ""}${facts.length > 0 ? ` (${facts.join(", ")})` : ""}`;
  });
}

// The address may have a position, with spaces as `_`, and the word `rest` if the defender holds the pieces in the box.
async function readAddress() {
  const [sfen, rest] = decodeURIComponent(location.hash.slice(1)).replaceAll("_", " ").split(" rest");
  if (!sfen) return;
  $("text").value = sfen;
  readPasted();
  await reading;
  if (rest === undefined || root !== sfen) return;
  $("rest").checked = true;
  setUp(root);
  draw();
}

function choose(number) {
  const { sfen, moves, fault } = problems[number];
  setEditing(false);
  $("rest").checked = false;
  setRoot(sfen);
  undone = [];
  record = null;
  track = trackOf("record", moves);
  if (fault) showError(() => t().ended(fault));
  drawProblems();
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
  if (!to) return;
  if (track.kind === "record" || !solved) track = trackOf("record");
  ply = 0;
}

function change(position) {
  undone.push(root);
  setUp(shogi.toSfen(position));
}

// Shows a position that is not from a text, and its text.
function setUp(sfen) {
  record = null;
  setRoot(sfen);
  $("text").value = readText = posed();
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
    showMoveError(() => (move?.verdict === "no_mate" ? t().noMateAfter(nameOf(move)) : t().notInSolution(usi)));
  }
}

// An error about a move disappears with the next move. Others stay.
let isMoveError = false;
function showMoveError(text) {
  if (text || isMoveError) showError(text);
  isMoveError = text !== null;
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
  showError(errorText);
  drawProblems();
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
$("undo").onclick = () => { setUp(undone.pop()); picked = null; draw(); };
$("rest").onchange = () => { setUp(root); draw(); };
$("side").onchange = () => { change({ ...shogi.fromSfen(root), side: $("side").value }); picked = null; draw(); };
$("clear").onclick = () => {
  $("rest").checked = true;
  change(shogi.empty());
  picked = null;
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
for (const hand of document.querySelectorAll(".hand")) {
  hand.onclick = ({ target }) => { if (target === hand) tap({ place: hand.dataset.place }); };
}
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

addEventListener("hashchange", readAddress);

translate();
draw();
readAddress();
if (!globalThis.KYOKUMEN && "serviceWorker" in navigator) navigator.serviceWorker.register("offline.js").catch(() => {});
