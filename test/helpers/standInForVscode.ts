import { registerHooks, type ModuleHooks } from 'node:module';

/** Until it is deregistered, modules that are loaded get the stand-in where they import `vscode`. */
export function standInForVscode(): ModuleHooks {
  const url = new URL('./vscodeStandIn.ts', import.meta.url).href;
  return registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'vscode' ? { url, shortCircuit: true } : next(specifier, context),
  });
}

/** Loads modules that get the stand-in where they import `vscode`; for a test file's top. */
export async function withVscode<T>(load: () => Promise<T>): Promise<T> {
  const hooks = standInForVscode();
  try {
    return await load();
  } finally {
    hooks.deregister();
  }
}
