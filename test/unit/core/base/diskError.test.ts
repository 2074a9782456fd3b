import assert from 'node:assert/strict';
import { DiskError, onDisk } from '../../../../src/core/base/diskError.ts';
import { CancelledError } from '../../../../src/core/base/errors.ts';

describe('DiskError', () => {
  const failed = (code: string) => Object.assign(new Error('/secret/path'), { code });

  it('contains the disk’s error code, and no path', () => {
    for (const [code, codes] of Object.entries({
      'disk-full': ['ENOSPC', 'EDQUOT', 'EFBIG'],
      'no-permission': ['EACCES', 'EPERM', 'EROFS'],
      'folder-missing': ['ENOENT', 'ENOTDIR'],
      disk: ['EIO', 'ELOOP', 'EMFILE'],
    }))
      for (const cause of codes) {
        const error = new DiskError(failed(cause));
        assert.equal(error.code, code, cause);
        assert.doesNotMatch(`${error.message} ${JSON.stringify(error)}`, /secret/);
      }
  });

  it('replaces errors of the file system, and no others', async () => {
    await assert.rejects(onDisk(Promise.reject(failed('EIO'))), DiskError);
    await assert.rejects(onDisk(Promise.reject(new CancelledError())), CancelledError);
    await assert.rejects(onDisk(Promise.reject(new TypeError('x'))), TypeError);
    assert.equal(await onDisk(Promise.resolve(1)), 1);
  });
});
