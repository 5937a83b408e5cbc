// Dragging pieces with a mouse, finger or pen.

const STARTS_PX = 6;

// `sourceOf(element)` is the piece at an element, if it can be dragged. `drop(source, element)` gets the element under
// the pointer at the end. The picture that follows the pointer is a copy of the one in the button of the source.
export function dragging(sourceOf, drop) {
  let dragged = null; // {source, x, y, picture, ghost}

  function start({ target, button, isPrimary, clientX, clientY }) {
    const source = button === 0 && isPrimary && target instanceof Element ? sourceOf(target) : null;
    dragged = source && { source, x: clientX, y: clientY, picture: target.closest("button").querySelector("svg") };
  }

  function follow({ clientX, clientY }) {
    if (!dragged) return;
    if (!dragged.ghost) {
      if (Math.hypot(clientX - dragged.x, clientY - dragged.y) < STARTS_PX) return;
      dragged.ghost = document.createElement("div");
      dragged.ghost.className = "ghost";
      dragged.ghost.append(dragged.picture.cloneNode(true));
      document.body.append(dragged.ghost);
    }
    dragged.ghost.style.left = `${clientX}px`;
    dragged.ghost.style.top = `${clientY}px`;
  }

  function end({ type, clientX, clientY }) {
    const { source, ghost } = dragged ?? {};
    dragged = null;
    if (!ghost) return;
    ghost.remove();
    // The click that ends a drag taps nothing.
    const swallow = (event) => event.stopPropagation();
    addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener("click", swallow, { capture: true }));
    const element = type === "pointerup" && document.elementFromPoint(clientX, clientY);
    if (element) drop(source, element);
  }

  document.addEventListener("pointerdown", start);
  document.addEventListener("pointermove", follow);
  document.addEventListener("pointerup", end);
  document.addEventListener("pointercancel", end);
}
