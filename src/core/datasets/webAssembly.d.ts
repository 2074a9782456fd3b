// What is used of WebAssembly (its JavaScript interface, W3C): Node has it, its types leave it to those of
// browsers.
declare namespace WebAssembly {
  class Module {
    private readonly brand;
    constructor(bytes: Uint8Array);
  }
  class Instance {
    readonly exports: unknown;
    constructor(module: Module, imports: Record<string, Record<string, () => void>>);
  }
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
  interface Global {
    readonly value: number;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
}
