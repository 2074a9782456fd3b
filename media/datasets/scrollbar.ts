import { element } from '../shared/dom.ts';

const SMALLEST_THUMB = 30;

/** The bar at the right of a list, for the pointer; keys do the same in the list itself. */
export class Scrollbar {
  readonly root: HTMLElement;
  readonly #thumb = element('div', { class: 'thumb' });
  readonly #onMove: (fraction: number) => void;
  /** Where in the thumb it is held, in pixels. */
  #held: number | undefined;

  /** @param onMove is told where the person moves to, from 0 to 1 */
  constructor(onMove: (fraction: number) => void) {
    this.#onMove = onMove;
    this.root = element('div', { class: 'scrollbar', attributes: { 'aria-hidden': 'true' } }, [this.#thumb]);
    this.root.addEventListener('pointerdown', (event) => this.#hold(event));
    this.root.addEventListener('pointermove', (event) => this.#move(event));
    this.root.addEventListener('pointerup', () => this.#release());
    this.root.addEventListener('pointercancel', () => this.#release());
  }

  /** @param fraction where the list is, from 0 to 1 @param part how much of it is seen */
  show(fraction: number, part: number): void {
    this.root.classList.toggle('needless', part >= 1);
    const track = this.root.clientHeight;
    const height = Math.max(SMALLEST_THUMB, track * part);
    this.#thumb.style.height = `${height}px`;
    if (this.#held === undefined)
      this.#thumb.style.transform = `translateY(${(track - height) * fraction}px)`;
  }

  #hold(event: PointerEvent): void {
    if (event.button !== 0) return;
    const { top, height } = this.#thumb.getBoundingClientRect();
    const inside = event.clientY - top;
    this.#held = inside >= 0 && inside <= height ? inside : height / 2;
    this.root.setPointerCapture(event.pointerId);
    this.root.classList.add('held');
    this.#move(event);
    event.preventDefault();
  }

  #move(event: PointerEvent): void {
    if (this.#held === undefined) return;
    const { top, height } = this.root.getBoundingClientRect();
    const free = Math.max(1, height - this.#thumb.offsetHeight);
    const y = Math.max(0, Math.min(free, event.clientY - top - this.#held));
    this.#thumb.style.transform = `translateY(${y}px)`;
    this.#onMove(y / free);
  }

  #release(): void {
    this.#held = undefined;
    this.root.classList.remove('held');
  }
}
