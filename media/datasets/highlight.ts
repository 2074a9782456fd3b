import type { PreviewFilter } from '../../src/ui/datasets/protocol.ts';

const MOST_RANGES = 500;

/** Marks the text that is searched for, as far as it can be seen; once a picture. */
export class Highlighter {
  #pending: number | undefined;

  mark(root: HTMLElement, { text, matchCase }: PreviewFilter): void {
    this.#pending ??= requestAnimationFrame(() => {
      this.#pending = undefined;
      if (text === '') CSS.highlights.delete('search');
      else CSS.highlights.set('search', new Highlight(...rangesOf(root, text, matchCase)));
    });
  }
}

function rangesOf(root: HTMLElement, text: string, matchCase: boolean): Range[] {
  const ranges: Range[] = [];
  const wanted = matchCase ? text : text.toLowerCase();
  const nodes = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node !== null && ranges.length < MOST_RANGES; node = nodes.nextNode()) {
    if (node.parentElement?.closest('.text') == null) continue;
    const value = node.textContent ?? '';
    const searched = matchCase ? value : value.toLowerCase();
    // Some characters have another length in lower case: then the places would be others.
    if (searched.length !== value.length) continue;
    for (let at = searched.indexOf(wanted); at !== -1; at = searched.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
    }
  }
  return ranges;
}
