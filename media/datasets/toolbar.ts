import type { PreviewCard, PreviewFilter, PreviewList, PreviewWord } from '../../src/ui/datasets/protocol.ts';
import { button, element } from '../shared/dom.ts';

const TYPING_MS = 250;

/** What the toolbar asks for. */
export interface ToolbarActions {
  onFilter: (filter: PreviewFilter) => void;
  onGoTo: (row: number) => void;
  onMore: () => void;
  onDetails: (isHidden: boolean) => void;
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
  #detailsHidden: boolean;

  constructor(words: Readonly<Record<PreviewWord, string>>, detailsHidden: boolean, actions: ToolbarActions) {
    this.#words = words;
    this.#actions = actions;
    this.#detailsHidden = detailsHidden;
    this.#search = element('input', {
      class: 'search',
      attributes: {
        type: 'text',
        placeholder: words.search,
        'aria-label': words.search,
        spellcheck: 'false',
      },
      on: { input: () => this.#planFilter(), keydown: (event) => this.#searchKey(event as KeyboardEvent) },
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
    this.#row = element('input', {
      class: 'rowNumber',
      attributes: {
        type: 'text',
        inputmode: 'numeric',
        placeholder: words.goToRowHint,
        'aria-label': words.goToRowHint,
      },
      on: {
        keydown: (event) => {
          if ((event as KeyboardEvent).key === 'Enter') this.#goTo();
        },
      },
    });
    this.#more = button(words.continueSearch, () => actions.onMore(), { class: 'secondary' });
    this.#more.hidden = true;
    this.#details = button('', () => this.#toggleDetails(), { class: 'secondary details' });
    this.#nameDetails();
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
    const option = (value: string, text: string) => element('option', { text, attributes: { value } });
    const options: HTMLElement[] = [option('', this.#words.allRows)];
    if (problems !== undefined) {
      options.push(option('all', this.#words.problemFilter));
      for (const { choice, name, count, codes } of problems.classes) {
        options.push(
          element('optgroup', { attributes: { label: name } }, [
            option(choice, `${name} (${count})`),
            ...codes.map((code) => option(code.choice, `${code.name} (${code.count})`)),
          ]),
        );
      }
    }
    this.#select.replaceChildren(...options);
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
      matchCase: this.#matchCase.getAttribute('aria-pressed') === 'true',
      problems: this.#problems,
    });
  }

  #toggleCase(): void {
    const isOn = this.#matchCase.getAttribute('aria-pressed') === 'true';
    this.#matchCase.setAttribute('aria-pressed', String(!isOn));
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

  #toggleDetails(): void {
    this.#detailsHidden = !this.#detailsHidden;
    this.#nameDetails();
    this.#actions.onDetails(this.#detailsHidden);
  }

  #nameDetails(): void {
    this.#details.textContent = this.#detailsHidden ? this.#words.showDetails : this.#words.hideDetails;
    this.#details.setAttribute('aria-expanded', String(!this.#detailsHidden));
    this.#details.setAttribute('aria-controls', 'details');
  }
}
