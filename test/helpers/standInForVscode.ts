import { registerHooks, type ModuleHooks } from 'node:module';

/** Until it is deregistered, modules that are loaded get the stand-in where they import `vscode`. */
export function standInForVscode(): ModuleHooks {
  const url = new URL('./vscodeStandIn.ts', import.meta.url).href;
  return registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'vscode' ? { url, shortCircuit: true } : next(specifier, context),
  });
}
