import type { PreviewCard, PreviewFilter, PreviewList, PreviewWord } from '../../src/ui/datasets/protocol.ts';
import { button, element, type Parts } from '../shared/dom.ts';

const TYPING_MS = 250;

/** Callbacks of the toolbar. */
export interface ToolbarActions {
  onFilter: (filter: PreviewFilter) => void;
  onGoTo: (row: number) => void;
  onMore: () => void;
  onDetails: () => void;
}

export type Toolbar = ReturnType<typeof createToolbar>;

/** Creates the bar above the rows: search, filters, row number and status. */
export function createToolbar(words: Readonly<Record<PreviewWord, string>>, actions: ToolbarActions) {
  let typing: ReturnType<typeof setTimeout> | undefined;
  let problems: string | undefined;

  const filter = () => {
    clearTimeout(typing);
    typing = undefined;
    actions.onFilter({ text: search.value, matchCase: matchesCase(), problems });
  };
  /** Filters by problems, or shows all rows if undefined. */
  const choose = (chosen: string | undefined) => {
    problems = chosen;
    filter();
  };
  const search = field('search', words.search, {
    input: () => {
      clearTimeout(typing);
      typing = setTimeout(filter, TYPING_MS);
    },
    keydown: (event) => {
      const { key } = event as KeyboardEvent;
      if (key !== 'Enter' && !(key === 'Escape' && search.value !== '')) return;
      if (key === 'Escape') search.value = '';
      filter();
    },
  });
  const matchCase = button('Aa', () => toggleCase(), {
    class: 'toggle',
    attributes: { 'aria-pressed': 'false', 'aria-label': words.matchCase, title: words.matchCase },
  });
  const matchesCase = () => matchCase.getAttribute('aria-pressed') === 'true';
  const toggleCase = () => {
    matchCase.setAttribute('aria-pressed', String(!matchesCase()));
    if (search.value !== '') filter();
  };
  const select = element('select', {
    attributes: { 'aria-label': words.problemFilter, title: words.problemFilter },
    on: { change: () => choose(select.value === '' ? undefined : select.value) },
  });
  const clearAll = () => {
    search.value = '';
    search.focus();
    choose(undefined);
  };
  const clear = button(words.clearFilter, clearAll, { class: 'secondary' });
  const goTo = () => {
    // Accept digit grouping, such as 1,234 or 1 234.
    const row = Number(rowNumber.value.replace(/[^0-9]/g, ''));
    if (row >= 1) actions.onGoTo(row);
  };
  const rowNumber = field('rowNumber', words.goToRowHint, {
    keydown: (event) => {
      if ((event as KeyboardEvent).key === 'Enter') goTo();
    },
  });
  rowNumber.inputMode = 'numeric';
  const status = element('span', { class: 'status' });
  const more = button(words.continueSearch, () => actions.onMore(), { class: 'secondary' });
  clear.hidden = more.hidden = true;
  /** Announced only when work has ended, because the visible status changes too often. */
  const spoken = element('span', { class: 'spoken', attributes: { role: 'status' } });
  const details = button('', () => actions.onDetails(), {
    class: 'secondary details',
    attributes: { 'aria-controls': 'details' },
  });
  const root = element('header', { class: 'toolbar' }, [
    element('div', { class: 'searchBox' }, [search, matchCase]),
    select,
    element('div', { class: 'goTo' }, [rowNumber, button(words.goToRow, goTo, { class: 'secondary' })]),
    clear,
    element('div', { class: 'statusBox' }, [status, more]),
    spoken,
    details,
  ]);

  /** Lists the dataset's problems, and facts that have rows, as filters. */
  const showProblems = ({ problems: found, facts }: Pick<PreviewCard, 'problems' | 'facts'>) => {
    const option = (value: string, text: string) => new Option(text, value);
    select.replaceChildren(option('', words.allRows));
    const ofFacts = facts.flatMap(({ rows }) => rows ?? []);
    select.append(...ofFacts.map(({ choice, name }) => option(choice, name)));
    if (found !== undefined) select.append(option('all', words.problemFilter));
    for (const { codes, ...all } of found?.classes ?? []) {
      const options = [all, ...codes].map(({ choice, name, count }) => option(choice, `${name} (${count})`));
      select.append(element('optgroup', { attributes: { label: all.name } }, options));
    }
    select.disabled = found === undefined && ofFacts.length === 0;
    select.value = problems ?? '';
  };
  showProblems({ problems: undefined, facts: [] });

  return {
    root,
    choose,
    showProblems,
    focusSearch() {
      search.focus();
      search.select();
    },
    /** Shows the state of the list. */
    show({ status: text, busy, canContinue, filter: shown }: PreviewList) {
      if (status.textContent !== text) status.textContent = text;
      if (!busy && spoken.textContent !== text) spoken.textContent = text;
      more.hidden = !canContinue;
      clear.hidden = shown.text === '' && shown.problems === undefined;
      problems = shown.problems;
      select.value = problems ?? '';
      matchCase.setAttribute('aria-pressed', String(shown.matchCase));
      // While the user types, the input is newer than the list.
      if (typing === undefined && search.value !== shown.text) search.value = shown.text;
    },
    /** Updates the button that shows or hides the details. */
    showDetails(isHidden: boolean) {
      details.textContent = isHidden ? words.showDetails : words.hideDetails;
      details.setAttribute('aria-expanded', String(!isHidden));
    },
  };
}

function field(name: string, label: string, on: NonNullable<Parts['on']>): HTMLInputElement {
  const attributes = { type: 'text', placeholder: label, 'aria-label': label, spellcheck: 'false' };
  return element('input', { class: name, attributes, on });
}
