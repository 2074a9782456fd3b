import type { SpendBalance } from '../../src/ui/money/protocol.ts';
import { svg } from '../shared/dom.ts';

/** In units of the picture, which is stretched to its place. */
const [WIDTH, HEIGHT] = [1_000, 200];

/** How a balance changed: it stays until the next point. */
export function drawBalance({ points, summary }: Pick<SpendBalance, 'points' | 'summary'>): SVGElement {
  const at = ([time, amount]: readonly [number, number]) =>
    [Math.round(time * WIDTH), Math.round((1 - amount) * HEIGHT)] as const;
  const [first, ...rest] = points.map(at);
  const [x, y] = first ?? [0, 0];
  const line = rest.map(([nextX, nextY]) => `H${nextX}V${nextY}`).join('');
  return picture(
    { class: 'chart', role: 'img', 'aria-label': summary },
    svg('path', { class: 'line', d: `M${x} ${y}${line}`, 'vector-effect': 'non-scaling-stroke' }),
  );
}

/** A bar beside a number that says the same. @param share from 0 to 1 */
export function drawBar(share: number): SVGElement {
  const width = String(Math.round(share * WIDTH));
  return picture({ class: 'bar', 'aria-hidden': 'true' }, svg('rect', { width, height: String(HEIGHT) }));
}

function picture(attributes: Readonly<Record<string, string>>, shape: SVGElement): SVGElement {
  const stretched = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none' };
  return svg('svg', { ...stretched, ...attributes }, [shape]);
}
