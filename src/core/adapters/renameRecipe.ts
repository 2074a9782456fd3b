import { pythonString } from './quoting.ts';
import type { NameRow } from './tensorNames.ts';

/**
 * Python that writes the adapter with mended names to a new folder: at most 15 lines, so that users can read it
 * before running it. Nothing that exists is changed.
 */
export function renaming(rows: readonly NameRow[], folder: string, mended: string): string[] {
  const names = rows.map(({ pattern, to }) => `(r"${pattern}", "${to}")`);
  return [
    'import os, re, shutil',
    'from safetensors.torch import load_file, save_file',
    '',
    `old = ${pythonString(folder)}`,
    `new = ${pythonString(mended)}`,
    'tensors = {}',
    'for name, tensor in load_file(os.path.join(old, "adapter_model.safetensors")).items():',
    `    for pattern, text in [${names.join(', ')}]:`,
    '        name = re.sub(pattern, text, name)',
    '    assert name not in tensors, name',
    '    tensors[name] = tensor',
    'os.mkdir(new)',
    'shutil.copy(os.path.join(old, "adapter_config.json"), new)',
    'save_file(tensors, os.path.join(new, "adapter_model.safetensors"), metadata={"format": "pt"})',
  ];
}
