import type {
  AnswersChoice,
  AnswersMessage,
  AnswersRequest,
  AnswersStart,
  AnswersVoteRow,
  AnswersVoting,
} from '../../src/ui/answers/protocol.ts';
import type { Client } from '../shared/client.ts';
import { button, element, keepFocus } from '../shared/dom.ts';
import { Texts } from './texts.ts';

export type AnswersClient = Client<{
  message: AnswersMessage;
  request: AnswersRequest;
  memory: AnswersStart['memory'];
}>;

const KEYS: Readonly<Record<string, AnswersChoice>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowDown: 'equal',
  ' ': 'equal',
};

/** Owns what is shown while the user votes: one row at a time, or the end. */
export class VoteView {
  readonly root = element('main', {
    class: 'voting',
    attributes: { tabindex: '-1', 'aria-labelledby': 'voteTitle', 'aria-describedby': 'voteKeyboard' },
  });
  readonly #client: AnswersClient;
  readonly #words: AnswersStart['words'];
  #shown: AnswersVoting | undefined;
  /** Expanded parts of the row. */
  readonly #open = new Set<string>();

  constructor(client: AnswersClient, words: AnswersStart['words']) {
    this.#client = client;
    this.#words = words;
    this.root.hidden = true;
    this.root.addEventListener('keydown', (event) => this.#key(event));
  }

  /** Shows a row with its expected answer hidden, or the end, and takes the focus. */
  show(voting: AnswersVoting): void {
    this.#shown = voting;
    this.#open.clear();
    this.root.hidden = voting.row === undefined && voting.end === undefined;
    this.#draw();
    if (this.root.hidden) return;
    this.root.scrollTop = 0;
    this.root.focus();
    if (voting.said !== undefined) this.#client.say(voting.said);
  }

  #draw(): void {
    const { row, end } = this.#shown ?? {};
    const drawn = row !== undefined ? this.#drawRow(row) : end !== undefined ? this.#drawEnd(end) : [];
    this.root.replaceChildren(...drawn);
  }

  #drawRow(row: AnswersVoteRow): HTMLElement[] {
    const { expected, left, right, prompt, title, note } = row;
    const words = this.#words;
    const parts = {
      isOpen: (key: string) => this.#open.has(key),
      toggle: (key: string) => this.#toggle(key),
    };
    const texts = new Texts(words, parts, 'h2');
    const hasExpected = this.#open.has('shown');
    const choose = (choice: AnswersChoice) =>
      button(words[choice], () => this.#choose(choice), {
        class: 'secondary',
        attributes: { 'aria-pressed': String(row.choice === choice) },
      });
    const expectedToggle = button(
      hasExpected ? words.hideExpected : words.showExpected,
      () => this.#toggle('shown'),
      { class: 'secondary', key: 'shown', attributes: { 'aria-expanded': String(hasExpected) } },
    );
    const back = button(words.back, () => this.#client.send({ type: 'back' }), { class: 'secondary' });
    back.disabled = !row.canGoBack;
    return [
      element('div', { class: 'title' }, [
        element('h1', { text: title, attributes: { id: 'voteTitle' } }),
        element('span', { class: 'note', text: note }),
      ]),
      prompt.messages === undefined ? texts.drawPrompt(prompt) : texts.drawMessages(prompt.messages),
      ...(hasExpected ? [texts.draw(expected, 'answer')] : []),
      element('div', { class: 'texts two' }, [texts.draw(left, 'answer'), texts.draw(right, 'answer')]),
      element('div', { class: 'choices' }, [choose('left'), choose('equal'), choose('right')]),
      element('div', { class: 'actions' }, [
        expectedToggle,
        back,
        button(words.end, () => this.#client.send({ type: 'end' }), { class: 'secondary' }),
      ]),
      element('p', { class: 'note', text: words.voteKeyboard, attributes: { id: 'voteKeyboard' } }),
    ];
  }

  #drawEnd({ sentences, more }: NonNullable<AnswersVoting['end']>): HTMLElement[] {
    const { end, showRows, discardVotes } = this.#words;
    const act = (words: string, request: AnswersRequest) =>
      button(words, () => this.#client.send(request), { class: 'secondary' });
    return [
      element('h1', { class: 'spoken', text: end, attributes: { id: 'voteTitle' } }),
      element(
        'div',
        { attributes: { role: 'status' } },
        sentences.map((text) => element('p', { text })),
      ),
      element('div', { class: 'actions' }, [
        act(showRows, { type: 'end' }),
        ...(more === undefined ? [] : [act(more, { type: 'vote' })]),
        act(discardVotes, { type: 'discardVotes' }),
      ]),
    ];
  }

  #toggle(key: string): void {
    if (!this.#open.delete(key)) this.#open.add(key);
    const refocus = keepFocus(this.root);
    this.#draw();
    refocus(this.root, this.root);
  }

  #choose(choice: AnswersChoice): void {
    const row = this.#shown?.row?.row;
    if (row !== undefined) this.#client.send({ type: 'choose', row, choice });
  }

  #key(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || event.repeat) return;
    const { row } = this.#shown ?? {};
    const choice = KEYS[event.key];
    // Space presses a button that has the focus.
    if (event.key === ' ' && (event.target as Element).matches('button')) return;
    if (event.key === 'Escape') this.#client.send({ type: 'end' });
    else if (row === undefined) return;
    else if (choice !== undefined) this.#choose(choice);
    else if (event.key === 'Backspace') this.#client.send({ type: 'back' });
    else if (event.key.toLowerCase() === 'e') this.#toggle('shown');
    else return;
    event.preventDefault();
  }
}
