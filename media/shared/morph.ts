/**
 * Updates elements in place where they differ, so that the focus, a selection and a pressed button are not
 * lost. Elements match if their tag and `data-key` do. Skips elements that currently show "Copied".
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

function morphChildren(parent: Element, nodes: readonly ChildNode[]): void {
  // Remove unwanted elements first so that the others don't move, which would lose the focus.
  const keys = new Set(nodes.map(keyOf));
  for (const child of [...parent.children]) if (!keys.has(keyOf(child))) child.remove();
  const byKey = new Map(
    [...parent.children].flatMap((child) => (keyOf(child) ? [[keyOf(child), child]] : [])),
  );
  let next = parent.firstChild;
  for (const wanted of nodes) {
    const keyed = isElement(wanted) ? byKey.get(keyOf(wanted)) : undefined;
    const match = keyed ?? (next !== null && keyOf(next) === undefined ? next : null);
    if (match !== null && isSame(match, wanted)) {
      if (match !== next) parent.insertBefore(match, next);
      else next = match.nextSibling;
      if (isElement(match) && isElement(wanted)) morph(match, wanted);
      else if (match.nodeValue !== wanted.nodeValue) match.nodeValue = wanted.nodeValue;
    } else parent.insertBefore(wanted, next);
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
