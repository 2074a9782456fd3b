import type { AnswersPrompt, AnswersText, AnswersWord } from '../../src/ui/answers/protocol.ts';
import { button, element } from '../shared/dom.ts';
import { foldAt } from '../shared/fold.ts';
import { drawReadable, MOST_MARKS, type MarkBudget } from '../shared/invisible.ts';
import type { OpenParts } from '../shared/rowFeed.ts';

/** The part of a row that is open if its complete prompt is shown. */
export const PROMPT = 'prompt';

/** Draws the texts of one row. They are untrusted. */
export class Texts {
  readonly #words: Readonly<Record<AnswersWord, string>>;
  readonly #parts: OpenParts;
  readonly #budget: MarkBudget = { marksLeft: MOST_MARKS };
  readonly #marksDifferences: boolean;

  /** @param marksDifferences else the plain answers are drawn */
  constructor(words: Readonly<Record<AnswersWord, string>>, parts: OpenParts, marksDifferences: boolean) {
    this.#words = words;
    this.#parts = parts;
    this.#marksDifferences = marksDifferences;
  }

  /** Draws a prompt on one line. If something is left out, the line expands. */
  drawPrompt({ line, messages }: AnswersPrompt): HTMLElement {
    if (messages === undefined) return this.#drawPlain(line, 'prompt');
    const isOpen = this.#parts.isOpen(PROMPT);
    return element(
      'button',
      {
        class: 'link prompt',
        attributes: { type: 'button', 'data-key': PROMPT, 'aria-expanded': String(isOpen) },
        on: { click: () => this.#parts.toggle(PROMPT) },
      },
      drawReadable(isOpen ? this.#words.prompt : line, this.#budget),
    );
  }

  /** Draws the messages of a prompt, if the user expanded it. */
  drawOpenPrompt({ messages = [] }: AnswersPrompt): HTMLElement[] {
    if (!this.#parts.isOpen(PROMPT)) return [];
    const drawn = messages.map((message) => this.draw(message, 'message'));
    return [element('div', { class: 'messages' }, drawn)];
  }

  /** Draws a text with its name. */
  draw(text: AnswersText, kind: 'answer' | 'message'): HTMLElement {
    const { key, name, notes, rest, thinking } = text;
    const head = element('div', { class: 'textHead' }, [
      element(kind === 'answer' ? 'h3' : 'span', { class: 'name' }, drawReadable(name, this.#budget)),
      ...notes.map((note) => element('span', { class: 'note', text: note })),
    ]);
    const drawn = element('div', { class: kind }, [head]);
    if (thinking !== undefined) drawn.append(...this.#drawThinking(`${key}/thinking`, thinking));
    drawn.append(...this.#drawPieces(text));
    if (rest !== undefined) drawn.append(element('p', { class: 'note', text: rest }));
    return drawn;
  }

  #drawThinking(key: string, { title, text }: NonNullable<AnswersText['thinking']>): HTMLElement[] {
    const isOpen = this.#parts.isOpen(key);
    const toggle = this.#drawToggle(key, title, isOpen);
    return isOpen ? [toggle, this.#drawPlain(text, 'thinking')] : [toggle];
  }

  /** Long texts are folded. */
  #drawPieces({ key, pieces: all }: AnswersText): HTMLElement[] {
    const pieces = this.#marksDifferences ? all : all.filter(({ mark }) => mark !== 'del');
    const whole = pieces.map(({ text }) => text).join('');
    if (whole === '') return [element('div', { class: 'text empty', text: this.#words.emptyText })];
    const isOpen = this.#parts.isOpen(key);
    const cut = foldAt(whole);
    let left = isOpen ? whole.length : cut;
    const drawn = element('div', { class: 'text', attributes: { dir: 'auto' } });
    for (const { text, mark } of pieces) {
      const nodes = drawReadable(text.slice(0, left), this.#budget);
      drawn.append(...(mark === undefined || !this.#marksDifferences ? nodes : [element(mark, {}, nodes)]));
      left -= text.length;
      if (left <= 0) break;
    }
    if (cut === whole.length) return [drawn];
    if (!isOpen) drawn.append('…');
    return [drawn, this.#drawToggle(key, isOpen ? this.#words.showLess : this.#words.showMore, isOpen)];
  }

  #drawToggle(key: string, words: string, isOpen: boolean): HTMLElement {
    const attributes = { 'aria-expanded': String(isOpen) };
    return button(words, () => this.#parts.toggle(key), { class: 'link', key, attributes });
  }

  #drawPlain(text: string, name: string): HTMLElement {
    const attributes = { dir: 'auto' };
    return element('div', { class: `text ${name}`, attributes }, drawReadable(text, this.#budget));
  }
}
