// The adapter page by the extension's own class and its bundled worker, with a file for each state.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildArchive } from '../../src/sandbox/adapterArchive.ts';
import type { AdapterPageParts } from '../../src/ui/adapters/adapterPage.ts';
import { root } from '../env/project.ts';
import { tensor } from '../helpers/adapters/safetensorsWriter.ts';
import { zipOf } from '../helpers/adapters/support.ts';
import { trainedAdapter } from '../ui/adapterFiles.ts';
import { uriOf } from './previews.ts';
import type { Create } from './webviews.ts';

const { AdapterPage } = await import('../../src/ui/adapters/adapterPage.ts');

type Core = AdapterPageParts['core'];
interface State {
  bytes?: () => Buffer | Promise<Buffer>;
  core?: Core;
}

const trained = (...options: Parameters<typeof trainedAdapter>) => ({
  bytes: () => zipOf({ 'README.md': Buffer.from('# A tutor\n'), ...trainedAdapter(...options) }),
});

/** The pages' states by what their files are; a file without bytes doesn't exist. */
export const ADAPTERS = {
  complete: trained(),
  'with problems': {
    bytes: () => {
      const files = trainedAdapter({
        layers: 4,
        config: { r: 8, modules_to_save: ['lm_head'] },
        tensors: (all) => [
          ...all.filter(({ name }) => !name.endsWith('layers.2.self_attn.v_proj.lora_B.weight')),
          tensor('base_model.model.lm_head.weight', [64, 64]),
        ],
      });
      const odd = Object.entries({ ...files, 'optimizer.pt': Buffer.from('never read') });
      return zipOf(Object.fromEntries(odd.map(([name, data]) => [`out/${name}`, data])));
    },
  },
  'with warnings': trained({
    config: { init_lora_weights: 'pissa_niter_4', alora_invocation_tokens: [1, 2], task_type: null },
  }),
  'with NaN': trained({
    layers: 4,
    tensors: (all) => {
      all[2]?.data.writeFloatLE(NaN, 20);
      return all;
    },
  }),
  'of another type': trained({ layers: 4, config: { peft_type: 'IA3' } }),
  'without a base': trained({ layers: 4, config: { base_model_name_or_path: undefined } }),
  'of the sandbox': { bytes: () => buildArchive('5f0c1c9e-aaaa', 'llama-3.1-8b-instruct') },
  unsafe: { bytes: () => zipOf({ '../evil.sh': Buffer.from('x') }) },
  damaged: { bytes: () => trained().bytes().subarray(0, 1_000) },
  'a web page': { bytes: () => Buffer.from('<!doctype html><p>Log in</p>') },
  empty: { bytes: () => Buffer.alloc(0) },
  gone: {},
  loading: { ...trained(), core: { runInWorker: () => new Promise(() => undefined) } },
  unreadable: { ...trained(), core: { runInWorker: () => Promise.reject(new Error('EIO')) } },
} satisfies Record<string, State>;

/** Writes the file of a state as `<name>.zip`. @param errors gets what the extension would log */
export function adapterIn(folder: string, name: keyof typeof ADAPTERS, errors: unknown[] = []): Create {
  return async (panel) => {
    const file = path.join(folder, `${name}.zip`);
    const { bytes, core }: State = ADAPTERS[name];
    if (bytes !== undefined) await writeFile(file, await bytes());
    return adapterAt(file, errors, core)(panel);
  };
}

/** The page of a file or folder. */
export function adapterAt(file: string, errors: unknown[] = [], core?: State['core']): Create {
  return (panel) =>
    new AdapterPage(file, panel, {
      extensionUri: uriOf(root),
      worker: path.join(root, 'dist/adapterWorker.cjs'),
      runOf: () => Promise.resolve(undefined),
      log: { error: (_, error) => void errors.push(error) },
      ...(core && { core }),
    });
}
