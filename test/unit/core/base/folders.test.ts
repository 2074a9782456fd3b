import assert from 'node:assert/strict';
import path from 'node:path';
import { syncDirectory } from '../../../../src/core/base/folders.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { onPlatform } from '../../../helpers/platform.ts';

describe('syncDirectory', () => {
  const folder = useFolder();

  it('opens the folder, except on Windows, which can’t', async () => {
    const gone = path.join(folder(), 'gone');
    for (const platform of ['linux', 'darwin'] as const)
      await assert.rejects(
        onPlatform(platform, () => syncDirectory(gone)),
        { code: 'ENOENT' },
      );
    await onPlatform('win32', () => syncDirectory(gone));
  });
});
