import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { NetworkError } from '../../../../src/core/api/errors.ts';
import { DiskError } from '../../../../src/core/base/diskError.ts';
import { ExpectedError } from '../../../../src/core/base/errors.ts';
import { DownloadError } from '../../../../src/core/downloads/errors.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const reports = await withVscode(() => import('../../../../src/ui/downloads/downloadReports.ts'));
const { chooseArtifacts } = await withVscode(() => import('../../../../src/ui/downloads/downloadAdapter.ts'));
const progress = await withVscode(() => import('../../../../src/ui/downloads/downloadProgress.ts'));
const { explain } = await withVscode(() => import('../../../../src/ui/shared/serviceErrors.ts'));

describe('what a download says:', () => {
  beforeEach(() => standIn.forget());

  it('chooseArtifacts shows the service’s names as plain text', async () => {
    const rows: unknown[] = [];
    standIn.shown.tick = (items) => {
      rows.push(...items.map(({ label, description }) => [label, description]));
      return undefined;
    };
    await chooseArtifacts('maths', [
      { type: 'model', filename: 'a\u202epiz.exe' },
      { type: 'lo\ng', filename: 'x'.repeat(500) },
    ]);
    assert.deepEqual(rows, [
      ['a<U+202E>piz.exe', 'the trained adapter'],
      [`${'x'.repeat(60)}…${'x'.repeat(59)}`, 'lo g'],
    ]);
  });

  it('reportDownloaded warns about a file that is damaged or not known to be an adapter', () => {
    for (const [verified, type, sentence] of [
      ['zip', 'model', /^Downloaded a\.zip to \/out\.$/],
      ['unread', 'model', /^Downloaded .* Only its size/],
      ['length', 'log', /^Downloaded .* Only its size/],
      ['length', 'model', /its format is unknown/],
      ['html', 'model', /a web page/],
      ['damaged', 'model', /^The download is damaged and was kept as \/out\/a\.zip\.$/],
      ['damaged', 'log', /is damaged/],
    ] as const) {
      standIn.forget();
      const file = { runId: 'r', path: '/out/a.zip', artifactType: type, verified, completedAtMs: 0 };
      reports.reportDownloaded([file], { id: 'account-1', kind: 'service' });
      assert.match(standIn.shown.sentences.join(), sentence);
      const buttons = standIn.shown.buttons[0] ?? [];
      assert.equal(buttons.includes('Inspect'), verified !== 'html');
      assert.equal(buttons[0] === 'Download Again…', verified === 'damaged');
    }
  });

  it('downloadText shows the progress, and downloadShare never 100% before the end', () => {
    const { downloadText, downloadShare } = progress;
    const sizes = { receivedBytes: 5_000, totalBytes: 10_000 };
    assert.equal(downloadText({ state: 'waiting', ...sizes }), 'waiting for the network');
    assert.equal(downloadText({ state: 'downloading', ...sizes }), '5.0 kB of 10.0 kB');
    assert.equal(downloadText({ state: 'downloading', receivedBytes: 5_000 }), '5.0 kB');
    assert.equal(downloadText({ state: 'interrupted', receivedBytes: 5_000 }), 'interrupted at 5.0 kB');
    assert.equal(downloadShare({ state: 'downloading', ...sizes, receivedBytes: 9_999 }), '99%');
    assert.equal(downloadShare({ state: 'downloading', receivedBytes: 0, totalBytes: 0 }), '100%');
  });

  it('reportDownloadFailed offers Resume if it can help, and otherwise the error’s action', () => {
    const session = { account: { id: 'account-1', kind: 'sandbox' }, runs: { label: () => 'maths' } };
    const report = (error: Error, ...active: object[]) => {
      standIn.forget();
      standIn.shown.answer = ([first]) => first;
      reports.reportDownloadFailed(session as never, { active } as never, 'r', error);
      return standIn.shown;
    };
    const stopped = { accountId: 'account-1', runId: 'r', state: 'interrupted' };
    const lost = new NetworkError('reset');
    const full = new DiskError({ name: 'Error', message: '', code: 'ENOSPC' });
    for (const [error, left, button] of [
      [lost, stopped, 'Resume'],
      [lost, { ...stopped, runId: 'other' }, 'Retry'],
      [full, stopped, 'Choose Another Folder…'],
      [new DownloadError('file-exists'), stopped, 'Download Again…'],
    ] as const)
      assert.deepEqual(report(error, left).buttons, [[button, 'Show Log']]);
    assert.match(
      report(lost, stopped).sentences[0] ?? '',
      /^Sandbox: Download of maths failed\. The connection /,
    );
  });

  it('explain has a sentence for each code of DownloadError', () => {
    const file = new URL('../../../../src/core/downloads/errors.ts', import.meta.url);
    const [problems = ''] = /type DownloadProblem =[^]*?';/.exec(readFileSync(file, 'utf8')) ?? [];
    const codes = [...problems.matchAll(/ \| '([a-z-]+)'/g)].map(([, code]) => code ?? '');
    assert.equal(codes.length, 10);
    const sentences = codes.map((code) => {
      const error = new (class extends ExpectedError {
        readonly code = code;
      })('x');
      return explain(error).sentence;
    });
    assert.equal(new Set(sentences).size, codes.length);
    assert.doesNotMatch(sentences.join(), /Unexpected error/);
  });
});
