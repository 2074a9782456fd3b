import type {
  AdapterCell,
  AdapterPicture,
  AdapterShade,
  AdapterWord,
} from '../../src/ui/adapters/protocol.ts';
import { button, element } from '../shared/dom.ts';
import { drawNotes } from './overview.ts';

type Words = Readonly<Record<AdapterWord, string>>;

/** Draws which modules of which layers are adapted, and how much. */
export function drawPicture(
  picture: AdapterPicture,
  words: Words,
  work: HTMLElement,
  onMeasure: () => void,
): HTMLElement[] {
  const readout = element('p', { class: 'readout note', text: words.gridHint });
  const grid = drawGrid(picture, (cell) => {
    readout.textContent = cell?.text ?? words.gridHint;
    readout.classList.toggle('note', cell === undefined);
  });
  const drawn = [
    element('p', { class: 'note', text: picture.caption }),
    element('div', { class: 'scroller' }, [grid]),
    readout,
    drawLegend(picture, words),
  ];
  if (picture.cut !== undefined) drawn.push(element('p', { class: 'note', text: picture.cut }));
  drawn.push(drawTable(picture, words), drawNotes(picture.findings, words));
  if (picture.measure !== undefined)
    drawn.push(
      element('p', {}, [button(picture.measure, onMeasure, { class: 'primary begins', key: 'measure' })]),
    );
  drawn.push(work);
  return drawn;
}

/** A grid with one cell in the order of Tab, from which the arrow keys lead to the others. */
function drawGrid(picture: AdapterPicture, onCell: (cell: AdapterCell | undefined) => void): HTMLElement {
  const known = new Map<unknown, AdapterCell>();
  const cells: HTMLElement[][] = picture.rows.map((row) =>
    row.cells.map((cell) => {
      const attributes = { tabindex: '-1', 'aria-label': cell.text, title: cell.text };
      const drawn = element('td', { attributes }, [drawShade(cell.shade)]);
      known.set(drawn, cell);
      return drawn;
    }),
  );
  let inTabOrder = cells[0]?.[0];
  inTabOrder?.setAttribute('tabindex', '0');
  const hasTotals = picture.rows.some(({ total }) => total !== undefined);
  // A header without words is none; each cell says its layer itself.
  const head = element('tr', {}, [
    element('td'),
    ...picture.columns.map(({ name, short }) =>
      short === ''
        ? element('td')
        : element('th', { text: short, attributes: { scope: 'col', 'aria-label': name } }),
    ),
    ...(hasTotals ? [element('td')] : []),
  ]);
  const rows = picture.rows.map(({ name, total }, index) =>
    element('tr', {}, [
      element('th', { text: name, attributes: { scope: 'row' } }),
      ...(cells[index] ?? []),
      ...(hasTotals ? [element('td', { class: 'total', text: total ?? '' })] : []),
    ]),
  );
  const grid = element(
    'table',
    { class: 'grid', attributes: { role: 'grid', 'aria-label': picture.caption, 'aria-readonly': 'true' } },
    [element('thead', {}, [head]), element('tbody', {}, rows)],
  );
  grid.addEventListener('keydown', (event) => moveIn(cells, event));
  // There can be thousands of cells: the grid listens for them all.
  grid.addEventListener('mouseover', ({ target }) =>
    onCell(known.get(target instanceof Element ? target.closest('td') : null)),
  );
  grid.addEventListener('focusin', ({ target }) => {
    onCell(known.get(target));
    if (!(target instanceof HTMLElement) || !known.has(target)) return;
    inTabOrder?.setAttribute('tabindex', '-1');
    inTabOrder = target;
    inTabOrder.setAttribute('tabindex', '0');
  });
  grid.addEventListener('focusout', () => onCell(undefined));
  grid.addEventListener('mouseleave', () => onCell(known.get(document.activeElement)));
  return grid;
}

function moveIn(cells: readonly (readonly HTMLElement[])[], event: KeyboardEvent): void {
  const row = cells.findIndex((one) => one.some((cell) => cell === document.activeElement));
  const current = cells[row];
  if (current === undefined) return;
  const column = current.findIndex((cell) => cell === document.activeElement);
  const target = targetOf(event.key, event.ctrlKey, row, column, cells.length - 1, current.length - 1);
  if (target === undefined) return;
  event.preventDefault();
  const next = cells[target[0]]?.[target[1]];
  if (next === undefined) return;
  next.focus();
  next.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

function targetOf(
  key: string,
  isControl: boolean,
  row: number,
  column: number,
  lastRow: number,
  lastColumn: number,
): readonly [row: number, column: number] | undefined {
  switch (key) {
    case 'ArrowUp':
      return [Math.max(0, row - 1), column];
    case 'ArrowDown':
      return [Math.min(lastRow, row + 1), column];
    case 'ArrowLeft':
      return [row, Math.max(0, column - 1)];
    case 'ArrowRight':
      return [row, Math.min(lastColumn, column + 1)];
    case 'Home':
      return [isControl ? 0 : row, 0];
    case 'End':
      return [isControl ? lastRow : row, lastColumn];
    default:
      return undefined;
  }
}

function drawShade(shade: AdapterShade): HTMLElement {
  const isNorm = typeof shade === 'number';
  const drawn = element('div', {
    class: `shade ${isNorm ? 'norm' : shade}`,
    attributes: { 'aria-hidden': 'true' },
  });
  if (isNorm) drawn.style.setProperty('--share', String(shade));
  return drawn;
}

function drawLegend({ legend }: AdapterPicture, words: Words): HTMLElement {
  return element(
    'ul',
    { class: 'legend', attributes: { 'aria-label': words.legend } },
    legend.map(({ shade, text }) => element('li', {}, [drawShade(shade), element('span', { text })])),
  );
}

/** The same in numbers, made when it is wanted: it can have thousands of cells. */
function drawTable(picture: AdapterPicture, words: Words): HTMLElement {
  const details = element('details', {}, [element('summary', { text: words.asTable })]);
  details.addEventListener(
    'toggle',
    () => {
      const head = element('tr', {}, [
        element('th', { text: picture.corner, attributes: { scope: 'col' } }),
        ...picture.columns.map(({ name }) => element('th', { text: name, attributes: { scope: 'col' } })),
      ]);
      const rows = picture.rows.map(({ name, cells }) =>
        element('tr', {}, [
          element('th', { text: name, attributes: { scope: 'row' } }),
          ...cells.map(({ value }) => element('td', { text: value === '' ? '–' : value })),
        ]),
      );
      const table = element('table', { class: 'numbers' }, [
        element('thead', {}, [head]),
        element('tbody', {}, rows),
      ]);
      details.append(
        element(
          'div',
          { class: 'scroller', attributes: { tabindex: '0', role: 'group', 'aria-label': words.asTable } },
          [table],
        ),
      );
    },
    { once: true },
  );
  return details;
}
