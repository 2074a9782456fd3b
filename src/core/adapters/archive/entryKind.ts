import type { AdapterEntry } from '../report.ts';

const PICKLE = /\.(?:bin|pt|pth|pkl|pickle|ckpt|joblib|mar)$/i;
const ARCHIVE = /\.(?:zip|tar|gz|tgz|bz2|tbz2?|xz|txz|zst|7z|rar|jar|whl)$/i;

export const CONFIG_NAME = 'adapter_config.json';
export const WEIGHTS_NAME = 'adapter_model.safetensors';

/** What a file of an archive is, by the name by which tools find it. */
export function kindOf(name: string): AdapterEntry['kind'] {
  const base = baseOf(name);
  // What macOS adds beside each file.
  if (base.startsWith('._') || name.startsWith('__MACOSX/')) return 'other';
  if (base === CONFIG_NAME) return 'config';
  if (/\.safetensors$/i.test(base)) return 'weights';
  // `data.pkl` is what PyTorch's own files are inside.
  if (PICKLE.test(base)) return 'pickle';
  return ARCHIVE.test(base) ? 'archive' : 'other';
}

export function baseOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** The folder that a file is in, '' at the top. */
export function folderOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('/')));
}
