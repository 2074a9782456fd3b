import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

describe('notifications, message boxes and progress', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let notifications: typeof import('../../../../src/ui/shared/notifications.ts');

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    notifications = await import('../../../../src/ui/shared/notifications.ts');
  });
  after(() => hooks.deregister());
  beforeEach(() => standIn.forget());

  const HOSTILE = '[Continue](command:workbench.action.quit) $(check) \u202etxt';
  const HARMLESS = '[Continue] (command:workbench.action.quit) $ (check) <U+202E>txt';

  it('make no link, no icon and nothing hidden of what a stranger wrote', () => {
    for (const show of [notifications.showInformation, notifications.showWarning, notifications.showError]) {
      standIn.forget();
      void show(HOSTILE, 'Show');
      void show(HOSTILE, { modal: true, detail: `${HOSTILE}\n${HOSTILE}` }, 'Show');
      assert.deepEqual(standIn.told.sentences, [HARMLESS, HARMLESS]);
      assert.deepEqual(standIn.told.details, [`${HARMLESS}\n${HARMLESS}`]);
      assert.deepEqual(standIn.told.buttons, [['Show'], ['Show']]);
      assert.deepEqual(standIn.told.isModal, [false, true]);
    }
  });

  it('show an Arabic date without naming its marks of direction', async () => {
    const { formatDay, formatMoment, formatTime } = await import('../../../../src/ui/shared/format.ts');
    standIn.env.language = 'ar';
    try {
      const texts = [formatTime, formatDay, (ms: number) => formatMoment(ms, ms)].map((format) => format(0));
      for (const text of texts) void notifications.showInformation(text);
      assert.deepEqual(standIn.told.sentences, texts);
    } finally {
      standIn.env.language = 'en';
    }
  });

  it('resolve to the button that was pressed', async () => {
    standIn.told.answer = (buttons) => buttons[1];
    assert.equal(await notifications.showWarning('x', 'A', 'B'), 'B');
  });

  it('make none in the title of progress, and in what it reports', async () => {
    const options = { location: { viewId: 'x' }, title: HOSTILE };
    const result = await notifications.withProgress(options, (progress) => {
      progress.report({ message: HOSTILE });
      return Promise.resolve(7);
    });
    assert.equal(result, 7);
    assert.deepEqual([standIn.told.titles, standIn.told.progress], [[HARMLESS], [HARMLESS]]);
  });
});
