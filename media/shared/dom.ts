/** What an element is made with; undefined attributes are left out. */
export interface Parts {
  class?: string | undefined;
  text?: string;
  attributes?: Readonly<Record<string, string | undefined>>;
  on?: Readonly<Record<string, (event: Event) => void>>;
}

/** Makes an element; text goes in as text, never as HTML. */
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

/** A button with words; `key` finds it again after what it stands in was drawn anew. */
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

/** A button that copies a text. The client does it, finds the button by its key, and shows on it for a while that it was done. */
export function copyButton(
  text: string,
  key: string,
  words: string,
  label: string | undefined,
  look: 'link' | 'secondary',
): HTMLButtonElement {
  const attributes = { type: 'button', 'data-key': key, 'data-copy': text, 'aria-label': label };
  return element('button', { class: look, text: words, attributes });
}

/** Puts values into a word's `{0}`, `{1}`. */
export function fill(word: string, ...values: readonly string[]): string {
  return word.replace(/\{(\d)\}/g, (hole, index: string) => values[Number(index)] ?? hole);
}

const PATHS: Readonly<Record<IconName, string>> = {
  error:
    'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm3.2 9.1-1.1 1.1L8 9.1l-2.1 2.1-1.1-1.1L6.9 8 4.8 5.9l1.1-1.1L8 6.9l2.1-2.1 1.1 1.1L9.1 8z',
  warning: 'M8 1.2 15.4 14.6H.6zm-.8 4.6v4.4h1.6V5.8zm0 5.4v1.6h1.6v-1.6z',
  clean: 'M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm-1 10.2L3.9 8.1 5 7l2 2 4-4 1.1 1.1z',
};
export type IconName = 'error' | 'warning' | 'clean';

/** A picture that says what is also said in words. */
export function icon(name: IconName): SVGElement {
  const attributes = { viewBox: '0 0 16 16', class: `icon ${name}`, 'aria-hidden': 'true' };
  return svg('svg', attributes, [svg('path', { d: PATHS[name] })]);
}

/** Makes an element of a picture. */
export function svg(
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

/** A bar beside a number that says the same. @param share from 0 to 1 */
export function drawBar(share: number): HTMLElement {
  const attributes = { value: String(share), max: '1', 'aria-hidden': 'true' };
  return element('progress', { class: 'bar', attributes });
}

/** What is wide scrolls in its own place, also by the keyboard. */
export function drawScroller(name: string, content: HTMLElement): HTMLElement {
  const attributes = { tabindex: '0', role: 'group', 'aria-label': name, 'data-key': `scroller ${name}` };
  return element('div', { class: 'scroller', attributes }, [content]);
}

/** To call before a part is drawn again; what it returns gives the keyboard back to the element of the same key, or to another. */
export function keepFocus(part: Element | undefined) {
  const focused = document.activeElement;
  const wasIn = part?.contains(focused) === true;
  const key = CSS.escape(focused?.getAttribute('data-key') ?? '');
  return (drawn: Element | undefined, other?: HTMLElement | null) => {
    const again = drawn?.querySelector<HTMLElement>(`[data-key="${key}"]`);
    if (wasIn) (again ?? other)?.focus({ preventScroll: true });
  };
}
