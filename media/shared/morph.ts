/**
 * Updates elements in place where they differ, so that the focus, a selection and a pressed button are not
 * lost. Elements match if their tag and `data-key` do. Skips buttons that currently show "Copied".
 */
export function morph(from: Element, to: Element): void {
  if (from.hasAttribute('data-copied')) return;
  for (const { name } of [...from.attributes])
    // Details that the user opened stay open.
    if (!to.hasAttribute(name) && name !== 'open') from.removeAttribute(name);
  for (const { name, value } of to.attributes)
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  morphChildren(from, [...to.childNodes]);
}

function morphChildren(parent: Element, wanted: readonly ChildNode[]): void {
  // Remove these first so that remaining elements don't move, which would lose the focus.
  const keys = new Set(wanted.map(keyOf));
  for (const child of [...parent.children]) if (!keys.has(keyOf(child))) child.remove();
  const keyed = new Map(
    [...parent.children].flatMap((child) => (keyOf(child) ? [[keyOf(child), child]] : [])),
  );
  let next = parent.firstChild;
  for (const want of wanted) {
    const known = isElement(want) ? keyed.get(keyOf(want)) : undefined;
    const present = known ?? (next !== null && keyOf(next) === undefined ? next : null);
    if (present !== null && isSame(present, want)) {
      if (present !== next) parent.insertBefore(present, next);
      else next = present.nextSibling;
      if (isElement(present) && isElement(want)) morph(present, want);
      else if (present.nodeValue !== want.nodeValue) present.nodeValue = want.nodeValue;
    } else parent.insertBefore(want, next);
  }
  while (next !== null) {
    const after = next.nextSibling;
    next.remove();
    next = after;
  }
}

function isSame(one: Node, other: Node): boolean {
  return one.nodeName === other.nodeName && keyOf(one) === keyOf(other);
}

/** Elements without a key are matched by position. */
function keyOf(node: Node): string | undefined {
  return isElement(node) ? (node.getAttribute('data-key') ?? undefined) : undefined;
}

function isElement(node: Node): node is Element {
  return node.nodeType === Node.ELEMENT_NODE;
}
