// Frames of a window as a small animated GIF.
import { writeFile } from 'node:fs/promises';
import gifenc from 'gifenc';
import type { Workbench } from './workbench.ts';

/** Colors of a frame, and the index after them for a pixel that the frame before already has. */
const COLORS = 64;
const UNCHANGED = COLORS;

/** Owns the frames of a moving picture, each shown for a while. */
export class MovingPicture {
  readonly #workbench: Workbench;
  readonly #size: { width: number; height: number };
  readonly #frames: { png: string; shownMs: number }[] = [];

  constructor(workbench: Workbench, size: { width: number; height: number }) {
    this.#workbench = workbench;
    this.#size = size;
  }

  async take(shownMs: number): Promise<void> {
    const { page } = this.#workbench;
    const png = await page.screenshot({ caret: 'hide', animations: 'disabled' });
    this.#frames.push({ png: png.toString('base64'), shownMs });
  }

  async save(file: string): Promise<void> {
    const { width, height } = this.#size;
    const page = await this.#workbench.page.context().newPage();
    const encoder = gifenc.GIFEncoder();
    let before: Uint8ClampedArray | undefined;
    for (const { png, shownMs } of this.#frames) {
      const pixels = await page.evaluate<string>(scaled(png, width, height));
      const now = new Uint8ClampedArray(Buffer.from(pixels, 'base64'));
      const palette = gifenc.quantize(now, COLORS);
      const index = gifenc.applyPalette(now, palette);
      const words = (one: Uint8ClampedArray) => new Uint32Array(one.buffer, one.byteOffset, width * height);
      if (before !== undefined) {
        const [old, fresh] = [words(before), words(now)];
        for (let at = 0; at < index.length; at++) if (old[at] === fresh[at]) index[at] = UNCHANGED;
      }
      encoder.writeFrame(index, width, height, {
        palette: [...palette, [0, 0, 0]],
        delay: shownMs,
        transparent: before !== undefined,
        transparentIndex: UNCHANGED,
        dispose: 1,
      });
      before = now;
    }
    encoder.finish();
    await page.close();
    await writeFile(file, encoder.bytes());
  }
}

/** An expression for the browser: the pixels of a picture in another size, in base64. */
function scaled(png: string, width: number, height: number): string {
  return `(async () => {
    const image = new Image();
    image.src = 'data:image/png;base64,${png}';
    await image.decode();
    const canvas = new OffscreenCanvas(${width}, ${height}).getContext('2d');
    canvas.imageSmoothingQuality = 'high';
    canvas.drawImage(image, 0, 0, ${width}, ${height});
    const { data } = canvas.getImageData(0, 0, ${width}, ${height});
    let text = '';
    for (let at = 0; at < data.length; at += 32768) text += String.fromCharCode(...data.subarray(at, at + 32768));
    return btoa(text);
  })()`;
}
