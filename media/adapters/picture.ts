import type { AdapterPicture, AdapterShade } from '../../src/ui/adapters/protocol.ts';
import { drawScroller, drawTable, element, header } from '../shared/dom.ts';

/** Draws which modules are adapted in which layers, and how much they learned. */
export function drawPicture(picture: AdapterPicture): HTMLElement[] {
  const readout = element('p', { class: 'readout note', text: picture.hint });
  const grid = drawGrid(picture, (text) => {
    readout.textContent = text ?? picture.hint;
    readout.classList.toggle('note', text === undefined);
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

/** Draws a grid with one cell in the tab order; the arrow keys move to the others. */
function drawGrid(picture: AdapterPicture, onCell: (text: string | undefined) => void): HTMLElement {
  const rows = picture.rows.map(({ name, cells }) =>
    element('tr', {}, [
      header(name, 'row'),
      ...cells.map(({ shade, text }) =>
        element('td', { attributes: { tabindex: '-1', 'aria-label': text, title: text } }, [
          drawShade(shade),
        ]),
      ),
    ]),
  );
  // A cell without text is not a header; each cell's label includes its layer.
  const heads = picture.columns.map(({ name, short }) =>
    short === ''
      ? element('td')
      : element('th', { text: short, attributes: { scope: 'col', 'aria-label': name } }),
  );
  const attributes = { role: 'grid', 'aria-label': picture.caption, 'aria-readonly': 'true' };
  const grid = drawTable([element('td'), ...heads], rows, { class: 'grid', attributes });
  let inTabOrder = rows[0]?.querySelector('td');
  inTabOrder?.setAttribute('tabindex', '0');
  // Listen on the grid because there can be thousands of cells.
  const cellOf = (target: EventTarget | null) =>
    target instanceof Element ? target.closest<HTMLTableCellElement>('td[aria-label]') : null;
  grid.addEventListener('keydown', (event) => moveFrom(cellOf(event.target), event));
  grid.addEventListener('mouseover', ({ target }) => onCell(cellOf(target)?.title));
  grid.addEventListener('mouseleave', () => onCell(cellOf(document.activeElement)?.title));
  grid.addEventListener('focusout', () => onCell(undefined));
  grid.addEventListener('focusin', ({ target }) => {
    const cell = cellOf(target);
    onCell(cell?.title);
    if (cell === null) return;
    inTabOrder?.setAttribute('tabindex', '-1');
    inTabOrder = cell;
    inTabOrder.setAttribute('tabindex', '0');
  });
  return grid;
}

function moveFrom(cell: HTMLTableCellElement | null, event: KeyboardEvent): void {
  const rows = cell?.closest('table')?.rows;
  if (cell === null || rows === undefined) return;
  const row = cell.closest('tr')?.rowIndex ?? 0;
  const column = cell.cellIndex;
  const [firstRow, lastRow] = event.ctrlKey ? [1, rows.length - 1] : [row, row];
  const targets: Readonly<Record<string, readonly [row: number, column: number]>> = {
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    Home: [firstRow, 1],
    End: [lastRow, (rows[row]?.cells.length ?? 0) - 1],
  };
  const target = targets[event.key];
  if (target === undefined) return;
  event.preventDefault();
  // Beyond the edges are only headers, which are not focusable.
  rows[target[0]]?.cells[target[1]]?.focus();
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

/** Draws the same data as a table, but only when it is opened: it can have thousands of cells. */
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
