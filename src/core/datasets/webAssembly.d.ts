// The part of WebAssembly (W3C, JavaScript Interface) in use: Node has it, but only browser types declare it.
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
