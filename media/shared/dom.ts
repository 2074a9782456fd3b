/** Parts of an element; undefined attributes are omitted. */
export interface Parts {
  class?: string | undefined;
  text?: string;
  attributes?: Readonly<Record<string, string | undefined>>;
  on?: Readonly<Record<string, (event: Event) => void>>;
}

/** Creates an element; text is never parsed as HTML. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  parts: Parts = {},
  children: readonly Node[] = [],
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (parts.class !== undefined) made.className = parts.class;
  if (parts.text !== undefined) made.textContent = parts.text;
  for (const [name, value] of Object.entries(parts.attributes ?? {}))
    if (value !== undefined) made.setAttribute(name, value);
  for (const [name, listener] of Object.entries(parts.on ?? {})) made.addEventListener(name, listener);
  made.append(...children);
  return made;
}

/** Creates a button; `key` identifies it after its surroundings were redrawn. */
export function button(
  words: string,
  onClick: () => void,
  more: { class?: string; key?: string; attributes?: Parts['attributes'] } = {},
): HTMLButtonElement {
  return element('button', {
    class: more.class,
    text: words,
    attributes: { type: 'button', 'data-key': more.key, ...more.attributes },
    on: { click: onClick },
  });
}

/**
 * Creates a Copy button, beside a text as an icon. The client handles its clicks, finds it by its key, and briefly
 * shows "Copied" on it.
 */
export function copyButton(
  text: string,
  key: string,
  words: string,
  label: string | undefined,
  look: 'link' | 'secondary',
): HTMLButtonElement {
  const attributes = { type: 'button', 'data-key': key, 'data-copy': text, 'aria-label': label };
  if (look === 'secondary') return element('button', { class: look, text: words, attributes });
  const name = label ?? words;
  return element('button', { class: look, attributes: { ...attributes, 'aria-label': name, title: name } }, [
    icon('copy'),
  ]);
}

/** Replaces `{0}`, `{1}` in a text with values. */
export function fill(word: string, ...values: readonly string[]): string {
  return word.replace(/\{(\d)\}/g, (hole, index: string) => values[Number(index)] ?? hole);
}

const PATHS: Readonly<Record<IconName, string>> = {
  error:
    'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm3.2 9.1-1.1 1.1L8 9.1l-2.1 2.1-1.1-1.1L6.9 8 4.8 5.9l1.1-1.1L8 6.9l2.1-2.1 1.1 1.1L9.1 8z',
  warning: 'M8 1.2 15.4 14.6H.6zm-.8 4.6v4.4h1.6V5.8zm0 5.4v1.6h1.6v-1.6z',
  clean: 'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm-1 10.2L3.9 8.1 5 7l2 2 4-4 1.1 1.1z',
  copy: 'M5 4h9v11H5zm1 1v9h7V5zM2 1h9v2h-1V2H3v9h1v1H2z',
};
export type IconName = 'error' | 'warning' | 'clean' | 'copy';

/** Creates an icon, hidden from screen readers because the text beside it, or its button's label, says the same. */
export function icon(name: IconName): SVGElement {
  const attributes = { viewBox: '0 0 16 16', class: `icon ${name}`, 'aria-hidden': 'true' };
  return svg('svg', attributes, [svg('path', { d: PATHS[name] })]);
}

/** Creates an SVG element. */
function svg(
  name: string,
  attributes: Readonly<Record<string, string>>,
  children: readonly SVGElement[] = [],
): SVGElement {
  const made = document.createElementNS<'svg'>('http://www.w3.org/2000/svg', name as 'svg');
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function header(text: string, scope: 'col' | 'row' = 'col', isNumber = false): HTMLElement {
  return element('th', { class: isNumber ? 'number' : undefined, text, attributes: { scope } });
}

export function drawTable(
  heads: readonly HTMLElement[],
  rows: readonly HTMLElement[],
  parts?: Parts,
): HTMLElement {
  return element('table', parts, [
    element('thead', { attributes: { 'data-key': 'head' } }, [element('tr', {}, heads)]),
    element('tbody', { attributes: { 'data-key': 'body' } }, rows),
  ]);
}

/** Draws a bar for the number beside it. @param share from 0 to 1 */
export function drawBar(share: number): HTMLElement {
  const attributes = { value: String(share), max: '1', 'aria-hidden': 'true' };
  return element('progress', { class: 'bar', attributes });
}

/** Wraps wide content in an element that scrolls, also with the keyboard. */
export function drawScroller(name: string, content: HTMLElement): HTMLElement {
  const attributes = { tabindex: '0', role: 'group', 'aria-label': name, 'data-key': `scroller ${name}` };
  return element('div', { class: 'scroller', attributes }, [content]);
}

/** Call this before redrawing a part. The returned function restores the focus by key, or moves it to `other`. */
export function keepFocus(part: Element | undefined) {
  const focused = document.activeElement;
  const wasIn = part?.contains(focused) === true;
  const key = CSS.escape(focused?.getAttribute('data-key') ?? '');
  return (drawn: Element | undefined, other?: HTMLElement | null) => {
    const again = drawn?.querySelector<HTMLElement>(`[data-key="${key}"]`);
    if (wasIn) (again ?? other)?.focus({ preventScroll: true });
  };
}
