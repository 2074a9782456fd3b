import type { PreviewCard, PreviewFilter, PreviewList, PreviewWord } from '../../src/ui/datasets/protocol.ts';
import { button, element, type Parts } from '../shared/dom.ts';

const TYPING_MS = 250;

/** What the toolbar asks for. */
export interface ToolbarActions {
  onFilter: (filter: PreviewFilter) => void;
  onGoTo: (row: number) => void;
  onMore: () => void;
  onDetails: () => void;
}

/** The bar above the rows: search, filter, go to a row, and what is listed. */
export class Toolbar {
  readonly root: HTMLElement;
  readonly #words: Readonly<Record<PreviewWord, string>>;
  readonly #actions: ToolbarActions;
  readonly #search: HTMLInputElement;
  readonly #matchCase: HTMLButtonElement;
  readonly #select: HTMLSelectElement;
  readonly #clear: HTMLButtonElement;
  readonly #row: HTMLInputElement;
  readonly #status = element('span', { class: 'status' });
  readonly #more: HTMLButtonElement;
  /** Read out when the work has come to rest; the visible status changes too often for that. */
  readonly #spoken = element('span', { class: 'spoken', attributes: { role: 'status' } });
  readonly #details: HTMLButtonElement;
  #typing: ReturnType<typeof setTimeout> | undefined;
  #problems: string | undefined;

  constructor(words: Readonly<Record<PreviewWord, string>>, actions: ToolbarActions) {
    this.#words = words;
    this.#actions = actions;
    this.#search = field('search', words.search, {
      input: () => this.#planFilter(),
      keydown: (event) => this.#searchKey(event as KeyboardEvent),
    });
    this.#matchCase = button('Aa', () => this.#toggleCase(), {
      class: 'toggle',
      attributes: { 'aria-pressed': 'false', 'aria-label': words.matchCase, title: words.matchCase },
    });
    this.#select = element('select', {
      attributes: { 'aria-label': words.problemFilter, title: words.problemFilter },
      on: { change: () => this.choose(this.#select.value === '' ? undefined : this.#select.value) },
    });
    this.#clear = button(words.clearFilter, () => this.#clearAll(), { class: 'secondary' });
    this.#clear.hidden = true;
    this.#row = field('rowNumber', words.goToRowHint, {
      keydown: (event) => {
        if ((event as KeyboardEvent).key === 'Enter') this.#goTo();
      },
    });
    this.#row.inputMode = 'numeric';
    this.#more = button(words.continueSearch, () => actions.onMore(), { class: 'secondary' });
    this.#more.hidden = true;
    this.#details = button('', () => actions.onDetails(), {
      class: 'secondary details',
      attributes: { 'aria-controls': 'details' },
    });
    this.root = element('header', { class: 'toolbar' }, [
      element('div', { class: 'searchBox' }, [this.#search, this.#matchCase]),
      this.#select,
      element('div', { class: 'goTo' }, [
        this.#row,
        button(words.goToRow, () => this.#goTo(), { class: 'secondary' }),
      ]),
      this.#clear,
      element('div', { class: 'statusBox' }, [this.#status, this.#more]),
      this.#spoken,
      this.#details,
    ]);
    this.showProblems(undefined);
  }

  focusSearch(): void {
    this.#search.focus();
    this.#search.select();
  }

  /** Shows what is listed. */
  show({ status, busy, canContinue, filter }: PreviewList): void {
    if (this.#status.textContent !== status) this.#status.textContent = status;
    if (!busy && this.#spoken.textContent !== status) this.#spoken.textContent = status;
    this.#more.hidden = !canContinue;
    this.#clear.hidden = filter.text === '' && filter.problems === undefined;
    this.#problems = filter.problems;
    this.#select.value = filter.problems ?? '';
    this.#matchCase.setAttribute('aria-pressed', String(filter.matchCase));
    // While the user types, the input is newer.
    if (this.#typing === undefined && this.#search.value !== filter.text) this.#search.value = filter.text;
  }

  /** Offers the problems that the dataset has. */
  showProblems(problems: PreviewCard['problems']): void {
    const { allRows, problemFilter } = this.#words;
    const option = (value: string, text: string) => new Option(text, value);
    this.#select.replaceChildren(option('', allRows));
    if (problems !== undefined) {
      this.#select.append(option('all', problemFilter));
      for (const { codes, ...all } of problems.classes) {
        const options = [all, ...codes].map(({ choice, name, count }) =>
          option(choice, `${name} (${count})`),
        );
        this.#select.append(element('optgroup', { attributes: { label: all.name } }, options));
      }
    }
    this.#select.disabled = problems === undefined;
    this.#select.value = this.#problems ?? '';
  }

  /** Filters by problems. */
  choose(problems: string | undefined): void {
    this.#problems = problems;
    this.#filter();
  }

  #searchKey(event: KeyboardEvent): void {
    if (event.key === 'Enter') this.#filter();
    if (event.key === 'Escape' && this.#search.value !== '') {
      this.#search.value = '';
      this.#filter();
    }
  }

  #planFilter(): void {
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => this.#filter(), TYPING_MS);
  }

  #filter(): void {
    clearTimeout(this.#typing);
    this.#typing = undefined;
    this.#actions.onFilter({
      text: this.#search.value,
      matchCase: this.#matchesCase,
      problems: this.#problems,
    });
  }

  get #matchesCase(): boolean {
    return this.#matchCase.getAttribute('aria-pressed') === 'true';
  }

  #toggleCase(): void {
    this.#matchCase.setAttribute('aria-pressed', String(!this.#matchesCase));
    if (this.#search.value !== '') this.#filter();
  }

  #clearAll(): void {
    this.#search.value = '';
    this.#search.focus();
    this.choose(undefined);
  }

  #goTo(): void {
    // As it may be written: 1,234 or 1 234.
    const row = Number(this.#row.value.replace(/[^0-9]/g, ''));
    if (row >= 1) this.#actions.onGoTo(row);
  }

  /** Says what the button for the details does. */
  showDetails(isHidden: boolean): void {
    this.#details.textContent = isHidden ? this.#words.showDetails : this.#words.hideDetails;
    this.#details.setAttribute('aria-expanded', String(!isHidden));
  }
}

function field(name: string, label: string, on: NonNullable<Parts['on']>): HTMLInputElement {
  const attributes = { type: 'text', placeholder: label, 'aria-label': label, spellcheck: 'false' };
  return element('input', { class: name, attributes, on });
}
