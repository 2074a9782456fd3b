import type { AdapterCell, AdapterPicture, AdapterShade } from '../../src/ui/adapters/protocol.ts';
import { drawScroller, drawTable, element, header } from '../shared/dom.ts';

/** Draws which modules of which layers are adapted, and how much. */
export function drawPicture(picture: AdapterPicture): HTMLElement[] {
  const readout = element('p', { class: 'readout note', text: picture.hint });
  const grid = drawGrid(picture, (cell) => {
    readout.textContent = cell?.text ?? picture.hint;
    readout.classList.toggle('note', cell === undefined);
  });
  const legend = element(
    'ul',
    { class: 'legend', attributes: { 'aria-label': picture.legendTitle } },
    picture.legend.map(({ shade, text }) => element('li', {}, [drawShade(shade), element('span', { text })])),
  );
  return [
    element('p', { class: 'note', text: picture.caption }),
    element('div', { class: 'scroller' }, [grid]),
    readout,
    legend,
    ...(picture.cut === undefined ? [] : [element('p', { class: 'note', text: picture.cut })]),
    drawNumbers(picture),
  ];
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
  // An empty header would be none; each cell names its layer itself.
  const heads = picture.columns.map(({ name, short }) =>
    short === ''
      ? element('td')
      : element('th', { text: short, attributes: { scope: 'col', 'aria-label': name } }),
  );
  const rows = picture.rows.map(({ name }, index) =>
    element('tr', {}, [header(name, 'row'), ...(cells[index] ?? [])]),
  );
  const attributes = { role: 'grid', 'aria-label': picture.caption, 'aria-readonly': 'true' };
  const grid = drawTable([element('td'), ...heads], rows, { class: 'grid', attributes });
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
  const column = cells[row]?.findIndex((cell) => cell === document.activeElement) ?? -1;
  if (column < 0) return;
  const [lastRow, lastColumn] = [cells.length - 1, (cells[row]?.length ?? 0) - 1];
  const targets: Readonly<Record<string, readonly [row: number, column: number]>> = {
    ArrowUp: [Math.max(0, row - 1), column],
    ArrowDown: [Math.min(lastRow, row + 1), column],
    ArrowLeft: [row, Math.max(0, column - 1)],
    ArrowRight: [row, Math.min(lastColumn, column + 1)],
    Home: [event.ctrlKey ? 0 : row, 0],
    End: [event.ctrlKey ? lastRow : row, lastColumn],
  };
  const target = targets[event.key];
  if (target === undefined) return;
  event.preventDefault();
  const next = cells[target[0]]?.[target[1]];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
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

/** The same in numbers, made when it is opened: it can have thousands of cells. */
function drawNumbers({ tableTitle, corner, columns, rows }: AdapterPicture): HTMLElement {
  const draw = () =>
    drawTable(
      [header(corner), ...columns.map(({ name }) => header(name))],
      rows.map(({ name, cells }) =>
        element('tr', {}, [
          header(name, 'row'),
          ...cells.map(({ value }) => element('td', { class: 'number', text: value === '' ? '–' : value })),
        ]),
      ),
      { class: 'numbers' },
    );
  const details = element('details', {}, [element('summary', { text: tableTitle })]);
  details.addEventListener('toggle', () => details.append(drawScroller(tableTitle, draw())), { once: true });
  return details;
}
