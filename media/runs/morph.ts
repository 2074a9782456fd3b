/**
 * Makes what stands on the page what it should be, touching only what differs: the focus, a selection and a button that is being
 * pressed stay as they are. Elements are the same where tag and `data-key` are.
 */
export function morph(from: Element, to: Element): void {
  for (const { name } of [...from.attributes])
    if (!to.hasAttribute(name) && !isOwn(from, name)) from.removeAttribute(name);
  for (const { name, value } of to.attributes)
    if (name !== 'style' && from.getAttribute(name) !== value) from.setAttribute(name, value);
  // As an attribute the policy of the page would refuse it.
  if (from instanceof HTMLElement && to instanceof HTMLElement && from.style.cssText !== to.style.cssText)
    from.style.cssText = to.style.cssText;
  morphChildren(from, [...to.childNodes]);
}

function morphChildren(parent: Element, wanted: readonly ChildNode[]): void {
  // What goes is taken away first, so that what stays need not be moved, which would cost it the focus.
  const keys = new Set(wanted.map(keyOf));
  for (const child of [...parent.children]) if (!keys.has(keyOf(child))) child.remove();
  const keyed = new Map(
    [...parent.children].flatMap((child) => (keyOf(child) ? [[keyOf(child), child]] : [])),
  );
  let next = parent.firstChild;
  for (const want of wanted) {
    const known = isElement(want) ? keyed.get(keyOf(want)) : undefined;
    const stands = known ?? (next !== null && keyOf(next) === undefined ? next : null);
    if (stands !== null && isSame(stands, want)) {
      if (stands !== next) parent.insertBefore(stands, next);
      else next = stands.nextSibling;
      if (isElement(stands) && isElement(want)) morph(stands, want);
      else if (stands.nodeValue !== want.nodeValue) stands.nodeValue = want.nodeValue;
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

/** Undefined where it has none: it is told by its place. */
function keyOf(node: Node): string | undefined {
  return isElement(node) ? (node.getAttribute('data-key') ?? undefined) : undefined;
}

/** Whether the person, and not the extension, has set an attribute. */
function isOwn(element: Element, name: string): boolean {
  return name === 'style' || (name === 'open' && element.nodeName === 'DETAILS');
}

function isElement(node: Node): node is Element {
  return node.nodeType === Node.ELEMENT_NODE;
}
