
"use strict";
(() => {
  let active = null;
  const players = [...document.querySelectorAll(".mate")].map((mate) => {
    const steps = [...mate.querySelectorAll(".step")];
    const moves = [...mate.querySelectorAll(".moves button")];
    const [first, back, forward, last] = mate.querySelectorAll(".controls button");
    const slider = mate.querySelector(".controls input");
    let now = 0;
    const show = (to) => {
      now = Math.max(0, Math.min(steps.length - 1, to));
      mate.dataset.ply = now;
      slider.value = now;
      steps.forEach((step, ply) => step.classList.toggle("now", ply === now));
      moves.forEach((move, ply) => {
        if (ply === now) move.setAttribute("aria-current", "step");
        else move.removeAttribute("aria-current");
      });
      first.disabled = back.disabled = now === 0;
      forward.disabled = last.disabled = now === steps.length - 1;
      const list = moves[now].closest(".moves"), item = moves[now].parentElement;
      if (item.offsetTop < list.scrollTop) list.scrollTop = item.offsetTop;
      else if (item.offsetTop + item.offsetHeight > list.scrollTop + list.clientHeight) {
        list.scrollTop = item.offsetTop + item.offsetHeight - list.clientHeight;
      }
    };
    const player = { go: (by) => show(now + by) };
    first.onclick = () => player.go(-steps.length);
    back.onclick = () => player.go(-1);
    forward.onclick = () => player.go(1);
    last.onclick = () => player.go(steps.length);
    slider.oninput = () => show(Number(slider.value));
    moves.forEach((move, ply) => { move.onclick = () => show(ply); });
    for (const event of ["pointerdown", "focusin"]) mate.addEventListener(event, () => { active = player; });
    mate.classList.add("live");
    for (const hidden of mate.querySelectorAll("[hidden]")) hidden.hidden = false;
    show(0);
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
