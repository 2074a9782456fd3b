const LINE_PIXELS = 40;

/** Lets the wheel and the finger scroll what does not scroll by itself. @param scrollBy is told how far, in pixels */
export function scrollByPointer(view: HTMLElement, scrollBy: (pixels: number) => void): void {
  view.addEventListener(
    'wheel',
    (event) => {
      if (event.ctrlKey || event.deltaY === 0) return;
      const unit = { 0: 1, 1: LINE_PIXELS, 2: view.clientHeight }[event.deltaMode] ?? 1;
      scrollBy(event.deltaY * unit);
      event.preventDefault();
    },
    { passive: false },
  );
  let last: number | undefined;
  view.addEventListener('pointerdown', (event) => {
    last = event.pointerType === 'touch' ? event.clientY : undefined;
  });
  view.addEventListener('pointermove', (event) => {
    if (last === undefined || event.pointerType !== 'touch') return;
    scrollBy(last - event.clientY);
    last = event.clientY;
  });
  for (const end of ['pointerup', 'pointercancel'])
    view.addEventListener(end, () => {
      last = undefined;
    });
}
