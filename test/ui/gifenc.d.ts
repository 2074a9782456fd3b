declare module 'gifenc' {
  type Palette = number[][];
  interface Encoder {
    writeFrame(index: Uint8Array, width: number, height: number, options: object): void;
    finish(): void;
    bytes(): Uint8Array;
  }
  const gifenc: {
    GIFEncoder(): Encoder;
    quantize(pixels: Uint8ClampedArray, colors: number): Palette;
    applyPalette(pixels: Uint8ClampedArray, palette: Palette): Uint8Array;
  };
  export default gifenc;
}
