import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { NetworkError } from '../../../../src/core/api/errors.ts';
import { DiskError } from '../../../../src/core/base/diskError.ts';
import { ExpectedError } from '../../../../src/core/base/errors.ts';
import { DownloadError } from '../../../../src/core/downloads/downloads.ts';
import { golden } from '../../../helpers/golden.ts';
import { onPlatform, usePlatform } from '../../../helpers/platform.ts';
import { faultOf } from '../../../helpers/services.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const reports = await withVscode(() => import('../../../../src/ui/downloads/downloadReports.ts'));
const { chooseArtifacts } = await withVscode(() => import('../../../../src/ui/downloads/downloadAdapter.ts'));
const progress = await withVscode(() => import('../../../../src/ui/downloads/downloadProgress.ts'));
const { explain } = await withVscode(() => import('../../../../src/ui/shared/serviceErrors.ts'));

describe('what a download says:', () => {
  usePlatform('linux');
  beforeEach(() => standIn.forget());

  for (const [platform, title] of [
    ['win32', 'Reveal in File Explorer'],
    ['darwin', 'Reveal in Finder'],
    ['linux', 'Open Containing Folder'],
  ] as const)
    it(`offers the file manager as VS Code names it on ${platform}`, async () => {
      const file = { runId: 'r', path: '/out/a.zip', artifactType: 'log', verified: 'zip' } as const;
      await onPlatform(platform, () => reports.reportDownloaded([file], { id: 'a', kind: 'service' }));
      assert.equal(standIn.shown.buttons[0]?.at(-1), title);
    });

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

  it('states progress and results, and offers what helps', () => {
    const shown: Record<string, string | string[]> = {};
    const toast = (name: string) => {
      const { sentences, buttons } = standIn.shown;
      shown[name] = sentences.map((text, index) =>
        [text, ...(buttons[index] ?? []).map((one) => `[${one}]`)].join(' '),
      );
      standIn.forget();
    };
    const work = { id: 'account-1', kind: 'service' } as const;
    const file = { runId: 'r', path: '/out/a.zip', artifactType: 'model', verified: 'zip' as const };
    for (const verified of ['zip', 'unread', 'length', 'html', 'damaged'] as const)
      for (const artifactType of ['model', 'log']) {
        reports.reportDownloaded([{ ...file, artifactType, verified }], work);
        toast(`a ${artifactType}: ${verified}`);
      }
    reports.reportDownloaded([file, { ...file, artifactType: 'log' }], { ...work, kind: 'sandbox' });
    toast('two files in the sandbox');
    reports.reportDownloaded([{ ...file, wasResumed: true }], { ...work, kind: 'sandbox' });
    toast('resumed in the sandbox');
    const session = { account: { id: 'account-1', kind: 'sandbox' }, runs: { label: () => 'maths' } };
    const stopped = { accountId: 'account-1', runId: 'r', state: 'interrupted' };
    const lost = new NetworkError('reset');
    for (const [name, error, left] of [
      ['lost', lost, stopped],
      ['lost, with another run stopped', lost, { ...stopped, runId: 'other' }],
      ['disk full', new DiskError({ name: 'Error', message: '', code: 'ENOSPC' }), stopped],
      ['a file of its name', new DownloadError('file-exists'), stopped],
    ] as const) {
      const parts = { downloads: { active: [left] }, sandboxFault: { get: () => () => undefined } };
      reports.reportDownloadFailed(session as never, parts as never, 'r', error);
      toast(name);
    }
    const faulty = {
      downloads: { active: [stopped] },
      sandboxFault: { get: () => () => faultOf('Sandbox scenario “Interrupted download” is on.') },
    };
    reports.reportDownloadFailed(session as never, faulty as never, 'r', lost);
    toast('lost by a fault');
    const { downloadText, downloadShare, downloadProgressText } = progress;
    for (const state of ['waiting', 'downloading', 'verifying', 'interrupted'] as const)
      for (const [receivedBytes, totalBytes] of [[9_999, 10_000], [5_000], [0, 0]] as const) {
        const view = {
          state,
          receivedBytes,
          ...(totalBytes !== undefined && { totalBytes }),
        };
        shown[`${state}, ${receivedBytes} of ${totalBytes}`] =
          `${downloadText(view)} | ${downloadShare(view)}`;
      }
    golden('downloads', {
      ...shown,
      'the second of two': downloadProgressText({ state: 'waiting', receivedBytes: 0 }, 1, 2),
    });
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
