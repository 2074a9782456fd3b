import type {
  PreviewCard,
  PreviewChart,
  PreviewProblemClass,
  PreviewWord,
} from '../../src/ui/datasets/protocol.ts';
import { copyButton, element, fill, icon } from '../shared/dom.ts';

/** What the card is drawn with. */
export interface CardContext {
  words: Readonly<Record<PreviewWord, string>>;
  fileName: string;
  /** The problems by which rows are filtered now. */
  chosen: () => string | undefined;
  onChoose: (choice: string) => void;
}

/** Draws the card of the dataset. */
export function drawCard(card: PreviewCard, context: CardContext): HTMLElement[] {
  const drawn: HTMLElement[] = [element('h2', { class: 'fileName', text: context.fileName })];
  if (card.progress !== undefined) {
    const { text, fraction } = card.progress;
    drawn.push(
      element('div', { class: 'progress' }, [
        element('progress', { attributes: { value: String(fraction), max: '1', 'aria-label': text } }),
        element('span', { class: 'note', text }),
      ]),
    );
  }
  if (card.verdict.text !== '') drawn.push(drawVerdict(card.verdict));
  drawn.push(drawFacts(card.facts, context));
  if (card.problems !== undefined) {
    drawn.push(
      element('section', {}, [
        element('h2', { text: card.problems.title }),
        element(
          'ul',
          { class: 'classes' },
          card.problems.classes.map((one) => drawClass(one, context)),
        ),
      ]),
    );
  }
  for (const chart of card.charts)
    drawn.push(
      element('section', {}, [
        element('h2', { text: chart.title }),
        ...(chart.kind === 'columns' ? drawColumns(chart, context) : [drawBars(chart)]),
      ]),
    );
  return drawn;
}

function drawVerdict({ kind, text }: PreviewCard['verdict']): HTMLElement {
  const name = kind === 'errors' ? 'error' : kind === 'clean' ? 'clean' : 'warning';
  return element('p', { class: 'verdict' }, [icon(name), element('span', { text })]);
}

function drawFacts(facts: PreviewCard['facts'], { words }: CardContext): HTMLElement {
  return element(
    'dl',
    { class: 'facts' },
    facts.flatMap(({ name, value, copy }) => {
      const shown = element('dd', { text: value });
      if (copy !== undefined) {
        shown.title = copy;
        shown.append(' ', copyButton(copy, `copy ${name}`, words.copy, `${words.copy} ${name}`, 'link'));
      }
      return [element('dt', { text: name }), shown];
    }),
  );
}

function drawClass(one: PreviewProblemClass, context: CardContext): HTMLElement {
  const { choice, name, count, codes } = one;
  return element('li', {}, [
    drawChoice(choice, name, count, context),
    element(
      'ul',
      {},
      codes.map((code) => {
        const drawn = drawChoice(code.choice, code.name, code.count, context);
        drawn.prepend(icon(code.severity));
        return element('li', {}, [drawn]);
      }),
    ),
  ]);
}

function drawChoice(choice: string, name: string, count: string, context: CardContext): HTMLElement {
  return element(
    'button',
    {
      class: 'choice',
      attributes: {
        type: 'button',
        'data-key': choice,
        'aria-pressed': String(context.chosen() === choice),
      },
      on: { click: () => context.onChoose(choice) },
    },
    [element('span', { class: 'choiceName', text: name }), element('span', { class: 'count', text: count })],
  );
}

/** Columns for the eye, and the same as a table. */
function drawColumns(chart: PreviewChart, { words }: CardContext): HTMLElement[] {
  const columns = element(
    'div',
    { class: 'columns', attributes: { 'aria-hidden': 'true' } },
    chart.parts.map(({ name, value, share }) => {
      const bar = element('div', { class: 'bar' });
      bar.style.height = share === 0 ? '0' : `max(2px, ${share * 100}%)`;
      return element('div', { class: 'column', attributes: { title: `${name}: ${value}` } }, [bar]);
    }),
  );
  const first = chart.parts[0]?.name ?? '';
  const last = chart.parts.at(-1)?.name ?? '';
  const ends = element('div', { class: 'ends note', attributes: { 'aria-hidden': 'true' } }, [
    element('span', { text: first }),
    element('span', { text: first === last ? '' : last }),
  ]);
  const table = element('table', {}, [
    element('thead', {}, [
      element('tr', {}, [
        element('th', { text: chart.nameHeader, attributes: { scope: 'col' } }),
        element('th', { text: chart.valueHeader, attributes: { scope: 'col' } }),
      ]),
    ]),
    element(
      'tbody',
      {},
      chart.parts.map(({ name, value }) =>
        element('tr', {}, [
          element('th', { text: name, attributes: { scope: 'row' } }),
          element('td', { text: value }),
        ]),
      ),
    ),
  ]);
  return [
    columns,
    ends,
    element('details', {}, [element('summary', { text: fill(words.asTable, chart.title) }), table]),
  ];
}

/** Bars with their names and numbers beside them. */
function drawBars({ parts }: PreviewChart): HTMLElement {
  return element(
    'ul',
    { class: 'bars' },
    parts.map(({ name, value, share }) => {
      const bar = element('div', { class: 'bar', attributes: { 'aria-hidden': 'true' } });
      bar.style.width = `max(2px, ${share * 100}%)`;
      return element('li', {}, [
        element('span', { class: 'choiceName', text: name }),
        element('span', { class: 'count', text: value }),
        bar,
      ]);
    }),
  );
}
