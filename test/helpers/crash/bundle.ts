import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Plugin } from 'esbuild';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** A change of one place of the product's code, to see whether the harness notices what it breaks. */
export interface Sabotage {
  /** From the repository's top. */
  file: string;
  from: string;
  to: string;
}

/** Where a bundle lies. */
export interface Bundle {
  window: string;
  digestWorker: string;
}

/**
 * Bundles the window's program, so that a process starts in a few milliseconds.
 * @throws when a sabotage does not find the code that it breaks
 */
export async function bundleWindow(folder: string, sabotages: readonly Sabotage[] = []): Promise<Bundle> {
  const done = new Set<Sabotage>();
  await build({
    absWorkingDir: ROOT,
    entryPoints: {
      window: 'test/helpers/crash/window.ts',
      digestWorker: 'src/core/api/digestWorker.ts',
    },
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22.19',
    plugins: [sabotaging(sabotages, done)],
    // Who asks for it hears of it.
    logLevel: 'silent',
  });
  for (const sabotage of sabotages)
    if (!done.has(sabotage))
      throw new Error(`a sabotage has nothing to break: ${sabotage.file} is not bundled`);
  return { window: path.join(folder, 'window.cjs'), digestWorker: path.join(folder, 'digestWorker.cjs') };
}

function sabotaging(sabotages: readonly Sabotage[], done: Set<Sabotage>): Plugin {
  return {
    name: 'sabotage',
    setup(esbuild) {
      esbuild.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path: file }) => {
        const mine = sabotages.filter((sabotage) => path.join(ROOT, sabotage.file) === file);
        if (mine.length === 0) return undefined;
        let contents = await readFile(file, 'utf8');
        for (const sabotage of mine) {
          const { from, to } = sabotage;
          if (contents.split(from).length !== 2)
            throw new Error(`a sabotage of ${sabotage.file} does not find its one place: ${from}`);
          contents = contents.replace(from, () => to);
          done.add(sabotage);
        }
        return { contents, loader: 'ts' };
      });
    },
  };
}
