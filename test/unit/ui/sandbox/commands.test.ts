import assert from 'node:assert/strict';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const { controlSandbox } = await withVscode(() => import('../../../../src/ui/sandbox/commands.ts'));

describe('The commands of the sandbox', () => {
  let scenario: string;
  let saved: string[];
  const control = {
    getScenario: () => scenario,
    setScenario: (id: string) => void (scenario = id),
  };
  const parts = (kind = 'sandbox') =>
    ({
      sandbox: { start: () => Promise.resolve({ control }) },
      accounts: { save: ({ kind: used }: { kind: string }) => saved.push(used) },
      sessions: {
        active: {
          account: { kind },
          runs: { refresh: () => Promise.resolve() },
          balance: { refresh: () => Promise.resolve() },
        },
      },
    }) as unknown as Parameters<typeof controlSandbox>[0];
  const set = (argument?: string, kind?: string) => controlSandbox(parts(kind), 'scenario', argument);

  beforeEach(() => {
    standIn.forget();
    scenario = 'none';
    saved = [];
  });

  it('are the rows of one menu, Reset last and after its question', async () => {
    const { shown } = standIn;
    shown.pick = () => 'Reset Sandbox…';
    shown.answer = () => undefined;
    assert.deepEqual(await controlSandbox(parts()), { outcome: 'cancelled' });
    assert.deepEqual(
      shown.inputs[0]?.items.map(({ label }) => label.replace(/^\$\(\S+\) /, '')),
      ['Sandbox Scenario…', 'Add Sandbox Funds…', 'Reset Sandbox…'],
    );
    assert.deepEqual([shown.sentences, shown.isModal], [['Reset the sandbox?'], [true]]);
    shown.pick = () => undefined;
    for (const name of [undefined, 'clockSpeed', 1])
      assert.deepEqual(await controlSandbox(parts(), name), { outcome: 'cancelled' });
    assert.equal(shown.inputs.length, 4);
  });

  it('leave the account of a service only after a modal question, also with an argument', async () => {
    const { shown } = standIn;
    shown.answer = () => undefined;
    await set('rate-limited', 'service');
    assert.deepEqual(
      [shown.sentences, shown.isModal, saved, scenario],
      [['Switch to the sandbox?'], [true], [], 'none'],
    );
    shown.answer = ([button]) => button;
    await set('rate-limited', 'service');
    assert.deepEqual([saved, scenario], [['sandbox'], 'rate-limited']);
  });

  it('say of each scenario what one will see, and that it stays on', async () => {
    standIn.shown.pick = ({ items, placeholder }) => {
      assert.equal(placeholder, 'A scenario stays on until you choose another.');
      for (const { label, detail = '' } of items) assert.match(detail, /^[A-Z].*\.$/, label);
      return 'Connection lost before the charge';
    };
    await set();
    assert.equal(scenario, 'connection-lost');
    assert.deepEqual(standIn.shown.sentences, [
      'Sandbox scenario: Connection lost before the charge. It stays on until you choose another.',
    ]);
  });

  it('don’t say that no fault stays on', async () => {
    scenario = 'rate-limited';
    await set('none');
    assert.deepEqual([scenario, standIn.shown.sentences], ['none', ['Sandbox scenario: No fault.']]);
  });
});
