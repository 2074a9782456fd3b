import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ModuleHooks } from 'node:module';
import {
  DownloadLinkError,
  NetworkError,
  SignedUrlRefusedError,
  UnexpectedAnswerError,
} from '../../../../src/core/api/errors.ts';
import { ExpectedError } from '../../../../src/core/base/errors.ts';
import { DiskError } from '../../../../src/core/base/diskError.ts';
import { DownloadError } from '../../../../src/core/downloads/downloadErrors.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

const HOUR = 3_600_000;

describe('downloads in words', () => {
  let hooks: ModuleHooks;
  let explain: typeof import('../../../../src/ui/shared/serviceErrors.ts').explain;
  let words: typeof import('../../../../src/ui/downloads/messages.ts');

  before(async () => {
    hooks = standInForVscode();
    ({ explain } = await import('../../../../src/ui/shared/serviceErrors.ts'));
    words = await import('../../../../src/ui/downloads/messages.ts');
  });
  after(() => hooks.deregister());

  const disk = (code: string) => new DiskError(Object.assign(new Error('x'), { code }));

  it('tell each end of a download apart, and what can be done', () => {
    const ends: [Error, RegExp, string][] = [
      [new DownloadError('run-not-completed'), /not finished yet/, 'Refresh Runs'],
      [new DownloadError('artifacts-expired'), /^This adapter has expired\./, 'Refresh Runs'],
      [new DownloadError('run-unknown'), /does not know this run/, 'Refresh Runs'],
      [new DownloadError('no-artifacts'), /no files for this run/, 'Refresh Runs'],
      [new DownloadError('artifact-gone'), /no longer offers this file/, 'Download Again…'],
      [new DownloadError('download-busy'), /Another window/, 'Show Log'],
      [new DownloadError('download-gone'), /nothing left to resume/, 'Download Again…'],
      [new DownloadError('download-empty'), /file is empty/, 'Retry'],
      [new DownloadError('length-unknown'), /didn’t report the file size/, 'Download Again…'],
      [new DownloadError('file-exists'), /was not overwritten/, 'Download Again…'],
      [disk('ENOSPC'), /no space left/, 'Choose Another Folder…'],
      [disk('EROFS'), /permission to write/, 'Choose Another Folder…'],
      [disk('ENOENT'), /no longer exists/, 'Choose Another Folder…'],
      [disk('EIO'), /Writing to that folder failed/, 'Choose Another Folder…'],
      [new SignedUrlRefusedError(403), /^The server rejected every download link \(403\)/, 'Download Again…'],
      [new SignedUrlRefusedError(500), /^The download server returned an error \(500\)\./, 'Download Again…'],
      [new NetworkError('dns'), /cannot be found/, 'Try Again'],
      [new NetworkError('stalled'), /stalled/, 'Try Again'],
    ];
    for (const [error, sentence, title] of ends) {
      const explanation = explain(error);
      assert.match(explanation.sentence, sentence);
      assert.equal(explanation.action?.title, title, explanation.sentence);
    }
    // Not the service, nor its address.
    const failures: [DownloadLinkError['failure'], RegExp][] = [
      [new NetworkError('other', 'ERR_TOO_SHORT'), /too early/],
      [new NetworkError('other', 'ERR_TOO_LONG'), /more than the announced/],
      [new NetworkError('dns'), /can’t be reached/],
      [new NetworkError('tls'), /certificate/],
      [new NetworkError('proxy'), /proxy/],
      [new NetworkError('reset'), /was lost/],
      [new UnexpectedAnswerError(302, 'redirect'), /redirects too often/],
      [new UnexpectedAnswerError(200, 'wrong-shape'), /something other than the file/],
      [new UnexpectedAnswerError(200, 'unsafe-link'), /unsafe download link/],
    ];
    for (const [failure, sentence] of failures) {
      const explanation = explain(new DownloadLinkError(failure));
      assert.match(explanation.sentence, sentence);
      assert.match(explanation.sentence, /download link/);
      assert.doesNotMatch(explanation.sentence, /the address|of (the|this) service|to the service/);
      assert.equal(explanation.action?.title, 'Download Again…');
      ends.push([new DownloadLinkError(failure), sentence, '']);
    }
    const sentences = ends.map(([error]) => explain(error).sentence);
    assert.equal(new Set(sentences).size, ends.length);
  });

  it('say until when an adapter was kept, where that is known', () => {
    const expiredAt = '2031-05-03T12:00:00Z';
    const error = new DownloadError('artifacts-expired', expiredAt);
    assert.match(explain(error).sentence, /^This adapter expired on May [34], 2031/);
  });

  it('have a sentence for each code that the errors of downloads have', () => {
    const source = readFileSync(
      new URL('../../../../src/core/downloads/downloadErrors.ts', import.meta.url),
      'utf8',
    );
    const codes = [...source.matchAll(/'([a-z]+(?:-[a-z]+)+)'/g)].map(([, code]) => code ?? '');
    assert.ok(codes.length >= 9);
    for (const code of codes) {
      const error = new (class extends ExpectedError {
        readonly code = code;
      })('x');
      assert.doesNotMatch(explain(error).sentence, /This did not work/, code);
    }
  });

  it('tell where a download stands', () => {
    const { downloadText, downloadShare } = words;
    const at = (
      state: Parameters<typeof downloadText>[0]['state'],
      receivedBytes: number,
      totalBytes?: number,
    ) => downloadText({ state, receivedBytes, ...(totalBytes !== undefined && { totalBytes }) });
    assert.equal(at('waiting', 0), 'waiting for the network');
    assert.equal(at('waiting', 5_000, 10_000), 'waiting for the network at 50 %');
    assert.equal(at('downloading', 5_000, 10_000), '5.0 kB of 10.0 kB');
    assert.equal(at('downloading', 5_000), '5.0 kB');
    assert.equal(at('verifying', 10_000, 10_000), 'verifying');
    assert.equal(at('interrupted', 5_000), 'interrupted at 5.0 kB');
    // Never whole before it is.
    assert.equal(downloadShare({ state: 'downloading', receivedBytes: 9_999, totalBytes: 10_000 }), '99 %');
    assert.equal(downloadShare({ state: 'downloading', receivedBytes: 0, totalBytes: 0 }), '100 %');
  });

  it('tell a change of state at once, and how far it is of all', async () => {
    const { withDownloadProgress } = await import('../../../../src/ui/downloads/downloadProgress.ts');
    const { told } = await import('../../../helpers/vscodeStandIn.ts');
    told.progress.length = 0;
    const view = { receivedBytes: 5_000, totalBytes: 10_000 };
    await withDownloadProgress('maths', 2, (_signal, tell) => {
      tell({ state: 'downloading', ...view }, 0);
      tell({ state: 'downloading', ...view, receivedBytes: 6_000 }, 0);
      tell({ state: 'waiting', ...view, receivedBytes: 6_000 }, 0);
      tell({ state: 'downloading', ...view }, 1);
      return Promise.resolve();
    });
    assert.deepEqual(
      new Set(told.progress),
      new Set([
        '1 of 2: 5.0 kB of 10.0 kB',
        '1 of 2: waiting for the network at 60 %',
        '2 of 2: 5.0 kB of 10.0 kB',
      ]),
    );
  });

  it('never tell more time than is left', () => {
    for (const [ms, text] of [
      [7 * 24 * HOUR, '7 d'],
      [3 * 24 * HOUR - 1, '2 d'],
      [2 * 24 * HOUR - 1, '47 h 59 min'],
      [2 * HOUR - 1, '1 h 59 min'],
      [119_999, '1 min'],
      [59_999, '59 s'],
      [999, '0 s'],
    ] as const)
      assert.equal(words.timeLeft(ms), text);
  });

  it('name a run by its label or its id, and make no link of either', () => {
    assert.equal(words.runName('maths', '3fa85f64-5717'), 'maths');
    assert.equal(words.runName('', '3fa85f64-5717'), 'run 3fa85f64');
    assert.doesNotMatch(words.runName('[x](command:y)', 'a'), /\]\(/);
  });
});
