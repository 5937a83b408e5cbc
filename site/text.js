// The texts of the page in both languages.

const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

const EN = {
  language: "日本語",
  title: "Mate problems",
  footer: "Kyokumen's solver, running in this browser. No position leaves this computer.",
  position: "Position", board: "Board", inBox: "Box", hand: (side) => (side === "b" ? "▲ Black" : "△ White"),
  square: (file, rank, what) => `${file}${String.fromCharCode(97 + rank)}: ${what || "empty"}`,
  piece: (side, name) => `${side === "b" ? "black" : "white"} ${name}`,
  held: (name, count) => `${name}, ${count}`,
  hint: "Drag pieces, or tap a piece, then a square, a hand or the box. Each further tap on a piece of the board promotes it or changes its side. Keys: arrows, Enter, Delete. The text field shows the position as SFEN; the address of the page keeps it.",
  attacker: "Attacker", clear: "Empty board", undo: "Undo", rest: "The defender holds the pieces in the box", edit: "Set up", flip: "Flip",
  first: "First position", back: "Back", ply: "Move", forward: "Forward", last: "Last position",
  paste: "Paste SFEN, KIF, BOD or CSA, or drop a file", read: "Read", open: "Open file…", example: "Example", problem: "Problem",
  solve: "Solve", stop: "Stop", settings: "Settings", all: "Search all moves for alternatives", limit: "Node limit", memory: "Memory",
  automatic: "for alternatives only", unlimited: "none", nodes: "nodes", solving: "Searching…", checking: "Searching for alternatives…",
  toMove: (side) => `${side === "b" ? "Black" : "White"} attacks`,
  win: (plies, exact) => (exact ? `Mate in ${plies}` : `Mate in at most ${plies}`),
  no_mate: "No mate", unknown: "Undecided",
  stops: { nodes: "the node limit was reached", depth: "the depth limit was reached", memory: "the memory is too small", cancelled: "stopped" },
  unique: "The solution is unique.",
  not_unique: "The solution is not unique.",
  flaws: "The solution is unique except for accepted flaws.",
  undecided: "Undecided whether the solution is unique.",
  notSearched: "Alternatives were not searched.", searchStopped: "The search for alternatives was stopped.",
  pliesOfFirst: (plies) => `the mate found first has ${plies} plies, counting futile interpositions`,
  twoPawns: (files) => `Two pawns on a file: ${files.join(", ")}.`,
  dead: (squares) => `Without any future move: ${squares.join(", ")}.`,
  agrees: "The moves of the text are the solution.",
  differs: (ply, given, found) => `Move ${ply} of the text is ${given}; ${found ? `the solution has ${found}` : "the solution has ended"}.`,
  skipped: (count, why) => `${plural(count, "unreadable problem")} skipped; the first: ${why}`,
  shownNodes: (count) => plural(count, "node"),
  solution: "Solution", record: "Moves of the text", variation: "Variation", mainLine: "Back to the solution", toRecord: "Back to the moves of the text", start: "Start",
  alternative: "alternative", flaw: "flaw", uncertain: "undecided",
  checks: "Checks here", replies: "Replies here", failing: (count) => `${plural(count, "check")} without mate`,
  isSolution: "solution", inPlies: (plies, exact) => (exact ? `in ${plies}` : `in at most ${plies}`),
  escapes: "no mate", futile: "futile", longest: "longest",
  kinds: {
    promotion: "promotion", distance: "distance", mirror: "mirror image", last_move: "last move", detour: "detour",
    shorter: "shorter mate", rejoins: "rejoins the solution", other: "other mate",
  },
  cut: (count) => `only the first ${count.toLocaleString("en")} are shown`, moves: (count) => plural(count, "move"),
  ended: (why) => `the moves end early: ${why}`,
  promote: "Promote?", notInSolution: (usi) => `${usi} is not in the solution.`, noMateAfter: (move) => `${move} does not mate.`,
  noKing: "Place the defender's king first.", unreadable: (why) => why, unsolvable: (why) => why, binary: () => "This is not a text in UTF-8, Shift_JIS or EUC-JP.",
  kept: "The board still shows the position before.",
  failed: (why) => `The solver has failed (${why}). Choose less memory, or reload the page.`,
};

const PIECES = { P: "歩", L: "香", N: "桂", S: "銀", G: "金", B: "角", R: "飛", K: "玉" };
const square = (usi) => `${usi[0]}${"一二三四五六七八九"["abcdefghi".indexOf(usi[1])]}`;
const side = (name) => (name === "Black" ? "先手" : "後手");

// The frequent messages of the readers, which are English.
const MESSAGES = [
  [/^line (\d+): /, (_, line) => `${line}行目：`],
  [/character (\d+): /, (_, at) => `${at}文字目：`],
  [/start position of the game: /, () => "開始局面："],
  [/rank ([a-i]) has (\d+) squares?, expected 9/, (_, rank, count) => `${square(`1${rank}`)[1]}段目のマスが${count}個です（9個必要）`],
  [/expected pieces in hand, found (".*")/, (_, found) => `持駒として読めません：${found}`],
  [/expected a rank of nine squares between \| and \|, found (".*")/, (_, found) => `盤面の段として読めません（| と | の間に9マス必要）：${found}`],
  [/expected the end of the diagram after nine ranks, found (".*")/, (_, found) => `盤面が9段より多くあります：${found}`],
  [/the diagram has (\d+) ranks? instead of 9/, (_, count) => `盤面が${count}段しかありません（9段必要）`],
  [/([1-9][a-i]): expected a piece or ・, found (.*)/, (_, at, found) => `${square(at)}：「${found}」は駒として読めません`],
  [/(\d+) pieces ([A-Z]) on board and in hand, but a set has (\d+)/, (_, count, piece, most) => `${PIECES[piece]}が盤上と持駒に${count}枚あります（全部で${most}枚のはずです）`],
  [/the number is larger than (\d+)/, (_, most) => `枚数が${most}より多くなっています`],
  [/no king on the board/, () => "盤面に玉がありません"],
  [/a second (Black|White) king on ([1-9][a-i])/, (_, color, at) => `${side(color)}の玉が2枚あります（${square(at)}）`],
  [/the (Black|White) king on .* although .* is not to move/, (_, color) => `手番でない${side(color)}の玉に王手がかかっています`],
  [/found ('.'), expected a piece, a digit from 1 to 9, or \+/, (_, found) => `${found} は SFEN の駒ではありません`],
  [/illegal move (\S+);.*/, (_, move) => `${move} は指せない手です`],
  [/expected a diagram, found the end of the file/, () => "盤面がありません"],
  [/expected the moves of the game after its header, found .*/, () => "対局情報の後に指し手がありません"],
  [/^(\S+) is illegal$/, (_, move) => `${move} は指せない手です`],
  [/the text contains no position/, () => "局面がありません"],
  [/(Black|White) has no king, so there is nothing to mate/, (_, color) => `${side(color)}の玉がないので、詰ませる相手がいません`],
];

// A message that cannot be translated completely stays English, on its own line.
function inJapanese(why) {
  const text = MESSAGES.reduce((text, [english, japanese]) => text.replace(english, japanese), why);
  return /[a-z]{2,} [a-z]/i.test(text.replace(/".*"/, "")) ? `\n${why}` : text;
}

const JA = {
  language: "English",
  title: "詰将棋",
  footer: "Kyokumen の詰み探索をこのブラウザの中で動かします。局面は外部に送信しません。",
  position: "局面", board: "盤面", inBox: "駒箱", hand: (side) => (side === "b" ? "▲先手" : "△後手"),
  square: (file, rank, what) => `${file}${"一二三四五六七八九"[rank]}：${what || "空き"}`,
  piece: (side, name) => `${side === "b" ? "先手" : "後手"}の${name}`,
  held: (name, count) => `${name}${count}枚`,
  hint: "駒はドラッグで動かせます。駒を選び、マス、持駒、駒箱のいずれかを選んでも動きます。盤上の駒は、もう一度選ぶたびに、成駒、相手側の駒、…の順に切り替わります。矢印、Enter、Delete キーも使えます。局面の SFEN は入力欄に表示され、ページのアドレスにも残ります。",
  attacker: "攻方", clear: "盤面を空にする", undo: "元に戻す", rest: "駒箱の駒は玉方の持駒", edit: "局面編集", flip: "盤面反転",
  first: "最初の局面", back: "一手戻る", ply: "手数", forward: "一手進む", last: "最後の局面",
  paste: "SFEN、KIF、BOD、CSA を貼り付けるか、ファイルをドロップ", read: "読み込む", open: "ファイルを開く…", example: "例題", problem: "問題",
  solve: "解く", stop: "中止", settings: "設定", all: "余詰を調べる", limit: "ノード数の上限", memory: "メモリ",
  automatic: "余詰の探索だけ", unlimited: "なし", nodes: "ノード", solving: "探索中…", checking: "余詰を調べています…",
  toMove: (side) => (side === "b" ? "攻方：先手" : "攻方：後手"),
  win: (plies, exact) => (exact ? `${plies}手詰` : `${plies}手以内で詰み`),
  no_mate: "不詰", unknown: "不明",
  stops: { nodes: "ノード数の上限に達しました", depth: "手数の上限に達しました", memory: "メモリが足りません", cancelled: "中止しました" },
  unique: "余詰はありません。",
  not_unique: "余詰があります。",
  flaws: "キズを除き、余詰はありません。",
  undecided: "余詰の有無は未確定です。",
  notSearched: "余詰は調べていません。", searchStopped: "余詰の探索は中止しました。",
  pliesOfFirst: (plies) => `最初に見つけた手順は無駄合も数えて${plies}手`,
  twoPawns: (files) => `二歩：${files.map((file) => `${file}筋`).join("、")}。`,
  dead: (squares) => `行き所のない駒：${squares.map(square).join("、")}。`,
  agrees: "棋譜の手順は本手順と一致します。",
  differs: (ply, given, found) => `棋譜の${ply}手目は${given}です（${found ? `本手順は${found}` : "本手順はすでに終わり"}）。`,
  skipped: (count, why) => `読めない${count}題を飛ばしました。最初の原因：${inJapanese(why)}`,
  shownNodes: (count) => `${count.toLocaleString("ja")}ノード`,
  solution: "本手順", record: "棋譜の手順", variation: "変化", mainLine: "本手順に戻る", toRecord: "棋譜の手順に戻る", start: "開始局面",
  alternative: "余詰", flaw: "キズ", uncertain: "未確定",
  checks: "この局面の王手", replies: "この局面の受け", failing: (count) => `詰まない王手 ${count}`,
  isSolution: "本手順", inPlies: (plies, exact) => (exact ? `${plies}手` : `${plies}手以内`),
  escapes: "不詰", futile: "無駄合", longest: "最長",
  kinds: {
    promotion: "成・不成非限定", distance: "打点・着手非限定", mirror: "左右対称", last_move: "最終手余詰", detour: "迂回手順",
    shorter: "早詰", rejoins: "手順前後・合流", other: "余詰",
  },
  cut: (count) => `先頭の ${count.toLocaleString("ja")} 題だけを読み込みました`, moves: (count) => `${count}手`,
  ended: (why) => `棋譜の途中までしか読めません：${inJapanese(why)}`,
  promote: "成りますか？", notInSolution: (usi) => `${usi} は手順にありません。`, noMateAfter: (move) => `${move} では詰みません。`,
  noKing: "先に玉方の玉を置いてください。", unreadable: (why) => `読み込めません：${inJapanese(why)}`, unsolvable: (why) => `探索できません：${inJapanese(why)}`,
  binary: () => "UTF-8、Shift_JIS、EUC-JP のテキストではありません。", kept: "盤面は読み込む前のままです。",
  failed: (why) => `探索が異常終了しました（${why}）。メモリの設定を小さくするか、ページを再読み込みしてください。`,
};

export const TEXTS = { en: EN, ja: JA };
