
"use strict";
(() => {
  // Squares by their USI names, pieces by their SFEN letters, and counts in hand.
  const FILES = "123456789", RANKS = "abcdefghi", NUMERALS = "一二三四五六七八九", HAND = "RBGSNLP";
  const parse = (sfen) => {
    const [board, turn, inHand] = sfen.split(" ");
    const squares = {}, hand = {};
    board.split("/").forEach((row, rank) => {
      let file = 9;
      for (const [piece] of row.matchAll(/\+?\w/g)) {
        if (piece >= "1" && piece <= "9") file -= Number(piece);
        else squares[`${file--}${RANKS[rank]}`] = piece;
      }
    });
    for (const [, count, piece] of inHand.matchAll(/(\d*)([A-Za-z])/g)) hand[piece] = Number(count || 1);
    return { squares, hand, turn };
  };
  const play = ({ squares, hand, turn }, usi) => {
    const [after, held, to] = [{ ...squares }, { ...hand }, usi.slice(2, 4)];
    const own = (piece) => turn === "b" ? piece.toUpperCase() : piece.toLowerCase();
    if (usi[1] === "*") {
      after[to] = own(usi[0]);
      held[after[to]] -= 1;
    } else {
      const from = usi.slice(0, 2), taken = after[to];
      if (taken) held[own(taken.at(-1))] = (held[own(taken.at(-1))] || 0) + 1;
      after[to] = (usi[4] || "") + after[from];
      delete after[from];
    }
    return { squares: after, hand: held, turn: turn === "b" ? "w" : "b" };
  };
  // The same picture as `kyokumen_shogi::svg` draws.
  const draw = ({ squares, hand, turn }, usi, flipped) => {
    const middle = (square) => {
      const file = FILES.indexOf(square[0]), rank = RANKS.indexOf(square[1]);
      return flipped ? [70 + file * 40, 360 - rank * 40] : [390 - file * 40, 40 + rank * 40];
    };
    const use = (piece, [x, y]) => {
      const letter = piece.at(-1), far = (letter < "a") === flipped ? "f" : "";
      return `<use href="#k-${far}${letter.toUpperCase()}${piece[1] ? "p" : ""}" x="${x}" y="${y}"/>`;
    };
    const mark = (name, square) => {
      const [x, y] = middle(square);
      return `<rect class="${name}" x="${x - 20}" y="${y - 20}" width="40" height="40"/>`;
    };
    let svg = '<use href="#k-grid"/>';
    if (usi) svg += (usi[1] === "*" ? "" : mark("k-left", usi)) + mark("k-last", usi.slice(2));
    svg += '<g class="k-coordinates">';
    for (let at = 0; at < 9; at++) {
      const [x, y] = middle(FILES[at] + RANKS[at]);
      svg += `<text x="${x}" y="15">${at + 1}</text><text x="420" y="${y + 5}">${NUMERALS[at]}</text>`;
    }
    svg += "</g>";
    for (const file of FILES) for (const rank of RANKS) {
      if (squares[file + rank]) svg += use(squares[file + rank], middle(file + rank));
    }
    for (const side of "bw") {
      const near = (side === "b") !== flipped;
      const place = (at) => near ? [453, 360 - at * 41] : [23, 40 + at * 41];
      const [x, y] = place(0);
      if (side === turn) svg += `<rect class="k-turn" x="${x - 15}" y="${y - 15}" width="30" height="30" rx="7"/>`;
      svg += `<use href="#k-sign" class="k-${side === "b" ? "black" : "white"}" x="${x}" y="${y}"/>`;
      let at = 0;
      for (const kind of side === "b" ? HAND : HAND.toLowerCase()) {
        if (!hand[kind]) continue;
        const [x, y] = place(++at);
        svg += use(kind, [x, y]);
        if (hand[kind] > 1) svg += `<text class="k-count" x="${x + 14}" y="${y + 18}">${hand[kind]}</text>`;
      }
    }
    return svg;
  };
  let active = null;
  const players = [...document.querySelectorAll(".mate")].map((mate) => {
    const board = mate.querySelector(".k-board");
    const boards = mate.querySelector(".boards");
    const controls = mate.querySelector(".controls");
    const slider = controls.querySelector("input");
    const list = mate.querySelector(".moves");
    const [first, back, forward, last] = controls.querySelectorAll("button:not(:last-child)");
    const flip = controls.querySelector("button:last-child");
    const root = { usi: "", position: parse(board.getAttribute("aria-label")) };
    const main = [root];
    let line = main, ply = 0, flipped = false;
    const positionOf = (node) => node.position ||= play(positionOf(node.up), node.usi);
    const redraw = () => { board.innerHTML = draw(positionOf(line[ply]), line[ply].usi, flipped); };
    const mark = (node, on) => {
      if (!node.button) return;
      if (on) node.button.setAttribute("aria-current", "step");
      else node.button.removeAttribute("aria-current");
    };
    const scrollTo = (item) => {
      const [shown, box] = [item.getBoundingClientRect(), list.getBoundingClientRect()];
      if (shown.top < box.top) list.scrollTop -= box.top - shown.top;
      else if (shown.bottom > box.bottom) list.scrollTop += shown.bottom - box.bottom;
    };
    const show = (to, within = line) => {
      mark(line[ply], false);
      line = within;
      ply = Math.max(0, Math.min(line.length - 1, to));
      const node = line[ply];
      mate.dataset.ply = ply;
      mate.classList.toggle("aside", !main.includes(node));
      slider.max = line.length - 1;
      slider.value = ply;
      mark(node, true);
      first.disabled = back.disabled = ply === 0;
      forward.disabled = last.disabled = ply === line.length - 1;
      if (node.button) {
        board.setAttribute("aria-label", node.button.textContent);
        scrollTo(node.button);
      }
      redraw();
    };
    // Turns the moves of the list into buttons.
    const button = (text, nodes, node) => {
      const made = document.createElement("button");
      made.type = "button";
      made.append(...text);
      made.onclick = () => show(nodes.indexOf(node), nodes);
      return node.button = made;
    };
    const items = list ? [...list.children] : [];
    items.forEach((item, at) => {
      const move = item.querySelector(":scope > .move");
      if (!move) return;
      if (at > 0) main.push({ usi: move.dataset.usi, up: main[at - 1] });
      move.replaceWith(button(move.childNodes, main, main[at]));
    });
    items.forEach((item, at) => {
      for (const branch of item.querySelectorAll(".line")) {
        const words = branch.textContent.split(" ");
        const nodes = main.slice(0, at);
        const buttons = branch.dataset.usi.split(" ").map((usi, number) => {
          const node = { usi, up: nodes.at(-1) };
          nodes.push(node);
          return button([words[number]], nodes, node);
        });
        branch.replaceChildren(...buttons);
      }
    });
    // A board without moves has no player, and leaves the keys to the browser.
    const player = list && { go: (by) => show(ply + by) };
    if (list) {
      first.onclick = () => player.go(-line.length);
      back.onclick = () => player.go(-1);
      forward.onclick = () => player.go(1);
      last.onclick = () => player.go(line.length);
      slider.oninput = () => show(Number(slider.value));
    }
    flip.onclick = () => { flipped = !flipped; redraw(); };
    for (const event of ["pointerdown", "focusin"]) mate.addEventListener(event, () => { active = player; });
    boards.replaceChildren(board);
    mate.classList.add("live");
    controls.hidden = false;
    if (list) show(0);
    return player;
  });
  active = players[0];
  const keys = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 };
  document.addEventListener("keydown", (event) => {
    const by = keys[event.key];
    if (!active || by === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    // A slider that has the focus moves by itself.
    if (event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    active.go(by);
  });
})();
