import type {
  PreviewCard,
  PreviewChart,
  PreviewFact,
  PreviewProblemClass,
} from '../../src/ui/datasets/protocol.ts';
import { drawBar, element, icon } from '../shared/dom.ts';

/** Draws the dataset card. @param chosen the problems that rows are currently filtered by */
export function drawCard(card: PreviewCard, fileName: string, chosen: string | undefined): HTMLElement[] {
  const { progress, verdict, problems } = card;
  const drawn: HTMLElement[] = [element('h2', { class: 'fileName', text: fileName })];
  if (progress !== undefined) {
    const { text, fraction, stop } = progress;
    drawn.push(
      element('div', { class: 'progress' }, [
        element('progress', { attributes: { value: String(fraction), max: '1', 'aria-label': text } }),
        element('span', { class: 'note', text }),
        ...(stop === undefined
          ? []
          : [
              element('button', {
                class: 'link',
                attributes: { type: 'button', 'data-key': 'stop' },
                text: stop,
              }),
            ]),
      ]),
    );
  }
  if (verdict.text !== '') drawn.push(drawVerdict(verdict));
  drawn.push(drawFacts(card.facts, chosen));
  if (problems !== undefined) {
    const classes = problems.classes.map((one) => drawClass(one, chosen));
    drawn.push(drawSection(problems.title, element('ul', { class: 'classes' }, classes)));
  }
  for (const { title, parts } of card.charts) drawn.push(drawSection(title, drawBars(parts)));
  return drawn;
}

function drawSection(title: string, content: HTMLElement): HTMLElement {
  return element('section', {}, [element('h2', { text: title }), content]);
}

function drawVerdict({ kind, text }: PreviewCard['verdict']): HTMLElement {
  const name = kind === 'errors' ? 'error' : kind === 'clean' ? 'clean' : 'warning';
  return element('p', { class: 'verdict' }, [icon(name), element('span', { text })]);
}

function drawFacts(facts: PreviewCard['facts'], chosen: string | undefined): HTMLElement {
  return element(
    'dl',
    { class: 'facts' },
    facts.flatMap((fact) => [element('dt', { text: fact.name }), drawFact(fact, chosen)]),
  );
}

function drawFact({ value, rows }: PreviewFact, chosen: string | undefined): HTMLElement {
  if (rows === undefined) return element('dd', { text: value });
  const attributes = {
    type: 'button',
    'data-key': rows.choice,
    'aria-pressed': String(chosen === rows.choice),
    'aria-label': `${rows.text}: ${rows.name}`,
  };
  const button = element('button', { class: 'link', attributes, text: rows.text });
  return element('dd', {}, [element('span', { text: `${value} ` }), button]);
}

function drawClass({ codes, ...all }: PreviewProblemClass, chosen: string | undefined): HTMLElement {
  const items = codes.map((code) => {
    const drawn = drawChoice(code, chosen);
    drawn.prepend(icon(code.severity));
    return element('li', { attributes: { 'data-key': code.choice } }, [drawn]);
  });
  const attributes = { 'data-key': all.choice };
  return element('li', { attributes }, [drawChoice(all, chosen), element('ul', {}, items)]);
}

function drawChoice(
  { choice, name, count }: Omit<PreviewProblemClass, 'codes'>,
  chosen: string | undefined,
): HTMLElement {
  const attributes = { type: 'button', 'data-key': choice, 'aria-pressed': String(chosen === choice) };
  return element('button', { class: 'choice', attributes }, drawCount(name, count));
}

function drawCount(name: string, count: string): HTMLElement[] {
  return [
    element('span', { class: 'choiceName', text: name }),
    element('span', { class: 'count', text: count }),
  ];
}

/** Draws bars below their names and counts. */
function drawBars(parts: PreviewChart['parts']): HTMLElement {
  const items = parts.flatMap(({ name, value, share, line }) => [
    element('li', {}, [...drawCount(name, value), drawBar(share)]),
    ...(line === undefined ? [] : [element('li', { class: 'line note', text: line })]),
  ]);
  return element('ul', { class: 'bars' }, items);
}
