import { registerHooks, type ModuleHooks } from 'node:module';

/** Replaces `vscode` with the stand-in in modules that are loaded from now on, until the hooks are deregistered. */
export function standInForVscode(): ModuleHooks {
  const url = new URL('./vscodeStandIn.ts', import.meta.url).href;
  return registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'vscode' ? { url, shortCircuit: true } : next(specifier, context),
  });
}

/** Loads modules with the stand-in in place of `vscode`; for the top of a test file. */
export async function withVscode<T>(load: () => Promise<T>): Promise<T> {
  const hooks = standInForVscode();
  try {
    return await load();
  } finally {
    hooks.deregister();
  }
}
