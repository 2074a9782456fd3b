import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

describe('dialogs of downloads', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let dialogs: typeof import('../../../../src/ui/downloads/downloadDialogs.ts');

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    dialogs = await import('../../../../src/ui/downloads/downloadDialogs.ts');
  });
  after(() => hooks.deregister());
  beforeEach(() => standIn.forget());

  it('name artifacts by plain words, whatever the service calls them', async () => {
    const rows: unknown[] = [];
    standIn.told.tick = (items) => {
      rows.push(...items.map(({ label, description }) => [label, description]));
      return undefined;
    };
    await dialogs.chooseArtifacts('maths', [
      { type: 'model', filename: 'a\u202epiz.exe' },
      { type: 'lo\ng', filename: 'x'.repeat(500) },
    ]);
    assert.deepEqual(rows, [
      ['a<U+202E>piz.exe', 'the trained adapter'],
      [`${'x'.repeat(60)}…${'x'.repeat(59)}`, 'lo g'],
    ]);
  });

  it('name a downloaded file for what it is', () => {
    const file = (verified: 'zip' | 'unread' | 'length' | 'html' | 'damaged', artifactType = 'model') => {
      standIn.forget();
      dialogs.tellDownloaded([{ path: '/out/a.zip', artifactType, verified, completedAtMs: 0 }], false);
      return standIn.told.sentences;
    };
    assert.deepEqual(file('zip'), ['Downloaded a.zip to /out.']);
    assert.deepEqual(file('html'), ['a.zip is a web page, not an adapter. It was kept as /out/a.zip.']);
    assert.deepEqual(file('length'), [
      'a.zip is not a known kind of archive or adapter file. It was kept as /out/a.zip.',
    ]);
    assert.deepEqual(file('length', 'log'), ['Downloaded a.zip to /out. Only its size could be verified.']);
    for (const type of ['model', 'log'])
      assert.deepEqual(file('unread', type), ['Downloaded a.zip to /out. Its contents couldn’t be checked.']);
    for (const type of ['model', 'log'])
      assert.deepEqual(file('damaged', type), [
        'a.zip was downloaded, but its archive looks damaged. It was kept as /out/a.zip.',
      ]);
  });

  it('name every target of several that were interrupted', async () => {
    const view = { state: 'interrupted', receivedBytes: 1, totalBytes: 2 } as const;
    await dialogs.askInterrupted('maths', view, ['/a.zip', '/b.jsonl']);
    assert.deepEqual(standIn.told.details, ['/a.zip\n/b.jsonl']);
  });
});
