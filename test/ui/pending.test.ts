import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { chooseInSandbox, chooseScenario, openInSandbox, sandboxLedger, setClockSpeed } from './sandbox.ts';
import { ACCEPT, CONTINUE, waitForConfirm, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import { actUntil, startUntil, until } from './waits.ts';
import type { Workbench } from './workbench.ts';

const ROW = '{"messages":[{"role":"user","content":"2+2?"},{"role":"assistant","content":"4"}]}\n';
const MARKER = /ft-[\da-z]{8}/;
/** The row about an earlier submission, whose run may be in any state. */
const BEFORE = /^\s*(Submitted before( · \w+)?|Trained before)\s*$/;

describe('open submissions', () => {
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(vscode.file('sums.jsonl'), ROW.repeat(40));
    await writeFile(vscode.file('more.jsonl'), ROW.repeat(41));
    workbench = await openInSandbox(vscode);
    await workbench.editors.open(vscode.file('sums.jsonl'));
  });

  after(() => vscode.close());

  const runs = () => workbench.sideBar.view('Runs');
  const press = (key: string) => workbench.page.keyboard.press(key);

  const focused = () => runs().root.locator('.monaco-list-row.focused').first();
  const focusedRow = (name: RegExp) => focused().and(runs().row(name));

  /** Focuses the first row. A row may look focused before the view receives keys, so they have to move the focus. */
  async function focusFirstRow(): Promise<void> {
    await workbench.runCommand('Fine-Tuning: Focus on Runs View');
    await actUntil(() => press('End'), focusedRow(/^(?!too poor)/));
    await actUntil(() => press('Home'), focusedRow(/^too poor, sums\.jsonl, Not charged/));
  }

  /** Saves a screenshot of each state in each theme. */
  async function pictures(states: Record<string, () => Promise<unknown>>): Promise<void> {
    for (const [name, show] of Object.entries(states))
      await workbench.screenshotInThemes(`looks-${name}`, show, () => workbench.quickInput.close());
  }

  async function begin(): Promise<void> {
    const { editors, quickInput } = workbench;
    await editors.pressTitleAction('Submit Dataset for Training…', quickInput.titled(/^Submit .+ to /));
  }

  function descriptionOf(row: string | RegExp): Promise<string> {
    return workbench.quickInput.item(row).first().locator('.label-description').innerText();
  }

  /** Presses Down until the row with this label is focused. */
  async function goTo(label: string): Promise<void> {
    const { quickInput } = workbench;
    const focused = quickInput.item(label).and(workbench.page.locator('.focused'));
    await quickInput.item(label).waitFor();
    const active = workbench.page.locator('.quick-input-widget .monaco-list-row.focused');
    for (let rows = 0; rows < 12 && (await focused.count()) === 0; rows++) {
      const before = (await active.count()) > 0 ? await active.first().getAttribute('aria-label') : null;
      await press('ArrowDown');
      // The focused row is redrawn a moment later.
      await until(
        'another row is focused',
        async () =>
          (await active.count()) > 0 && (await active.first().getAttribute('aria-label')) !== before,
      );
    }
    await focused.waitFor();
  }

  /** Picks a row with the keyboard and waits until the box is replaced or closed. */
  async function take(label: string): Promise<void> {
    const title = await workbench.quickInput.title();
    await goTo(label);
    await press('Enter');
    await workbench.quickInput.waitUntilOther(title);
  }

  it('show their marker in the label box, and send it at the end of the label, without a copied one', async () => {
    const { quickInput } = workbench;
    await begin();
    await walkThroughSteps(workbench, { fileName: 'sums.jsonl', model: 'Qwen3 8B', until: 'summary' });
    await quickInput.pick('Label');
    await quickInput.waitForMessage(/“ft-[\da-z]{8}” will be added/);
    const [marker = ''] = MARKER.exec(await workbench.page.locator('.quick-input-message').innerText()) ?? [];
    await workbench.screenshot('label-marker');
    await quickInput.fill('ft-7k3m9qpx adding');
    await quickInput.item(CONTINUE).waitFor();
    assert.equal(await descriptionOf('Label'), 'adding');
    await walkThroughSteps(workbench, { fileName: 'sums.jsonl' });
    await workbench.dialogs.waitForToast(/submitted adding\. .+ of sandbox money/);
    assert.deepEqual(sandboxLedger(vscode).labels, [`adding ${marker}`]);
    // The tree omits the marker.
    await runs()
      .row(/^Run adding, /)
      .waitFor();
    await workbench.clearNotifications();
  });

  it('show an earlier submission of the same dataset, model, and queue before the consents', async () => {
    const { quickInput } = workbench;
    await workbench.screenshotInThemes('looks-summary', async () => {
      await begin();
      await walkThroughSteps(workbench, { fileName: 'sums.jsonl', model: 'Qwen3 8B', until: 'summary' });
    });
    assert.match(await descriptionOf(BEFORE), /^(just now|.+ ago) with Qwen3 8B, \d+\.\d\d /);
    await quickInput.pick('Queue');
    await quickInput.pick('Priority queue');
    assert.match(await descriptionOf(BEFORE), /^\w+ \d+, \d{4} with Qwen3 8B, \d+\.\d\d /);
    await quickInput.close();
  });

  it('keep the draft of a refused submission', async () => {
    await chooseScenario(workbench, 'Balance too low');
    await begin();
    await walkThroughSteps(workbench, {
      fileName: 'sums.jsonl',
      model: 'Mistral 7B Instruct v0.3',
      label: 'too poor',
      queue: 'Priority queue',
    });
    await workbench.dialogs.waitForToast(/Not charged: the balance of .+ is too low for too poor\./);
    await runs().row('too poor, sums.jsonl, Not charged, balance too low').waitFor();
    await workbench.screenshot('refused');
    await workbench.clearNotifications();
  });

  it('and their menus can be reached by keyboard', async () => {
    setClockSpeed(vscode, 100);
    await runs()
      .row(/^Run adding, Completed/)
      .waitFor();
    setClockSpeed(vscode, 1);
    await workbench.clearNotifications();
    await pictures({
      runs: () =>
        runs()
          .row(/^Run adding/)
          .waitFor(),
      'account-menu': async () => {
        await workbench.statusItem('balance').click();
        await workbench.quickInput.waitForTitle('Account');
      },
    });
    await focusFirstRow();
    // The row of an open submission opens its details. VS Code loses Enter now and then, and selects no row.
    const selected = runs().root.locator('[role=treeitem][aria-selected=true]');
    const dialog = workbench.quickInput.titled('Submission of sums.jsonl');
    await actUntil(
      () => press('Enter'),
      selected
        .and(runs().row(/^too poor/))
        .or(dialog)
        .first(),
    );
    await dialog.waitFor();
    const actions = (await workbench.quickInput.labels()).map((label) => label.trim()).slice(0, 3);
    assert.deepEqual(actions, ['Continue…', 'Discard…', 'Balance before']);
    await workbench.quickInput.close();

    await focusFirstRow();
    // A row may be followed by its children.
    for (let rows = 0; rows < 5 && (await focusedRow(/^Run adding, Completed/).count()) === 0; rows++) {
      const before = await focused().getAttribute('id');
      await until('another row is focused', async () => {
        if ((await focused().getAttribute('id')) !== before) return true;
        await press('ArrowDown');
        return false;
      });
    }
    await focusedRow(/^Run adding, Completed, Qwen3 8B, .+, 7 days left/).waitFor();
    const menu = workbench.page.locator('.monaco-menu-container');
    await startUntil(() => press('Shift+F10'), menu.getByRole('menuitem', { name: 'Copy Run ID' }));
    assert.deepEqual(
      (await menu.locator('.action-label[aria-label]').allTextContents()).filter((text) => text !== ''),
      ['Download Adapter…', 'Copy Run ID', 'Submit Again…'],
    );
    await workbench.screenshot('row-menu');
    // The first item that a menu focuses differs between systems.
    for (let items = 0; items < 6; items++) {
      await press('ArrowDown');
      const item = await menu.locator('.action-item.focused').textContent();
      if (item?.includes('Copy Run ID') === true) break;
    }
    await press('Enter');
    await workbench.page.getByText('Run ID copied').waitFor();
    assert.match(await workbench.clipboard(), /^[\da-f]{8}-/);
  });

  it('continue by keyboard with new consents, and are charged', async () => {
    const { quickInput } = workbench;
    await chooseInSandbox(workbench, 'Add Sandbox Funds…');
    await quickInput.waitForTitle('Add Sandbox Funds');
    await quickInput.fill('100');
    await workbench.dialogs.waitForToast(/The balance is now .+ of sandbox money/);
    await chooseScenario(workbench, 'No fault');
    const before = sandboxLedger(vscode);

    await actUntil(() => press('F1'), workbench.page.locator('.quick-input-widget input.input'));
    await quickInput.type('>Fine-Tuning: Resolve Submission…');
    await take('Fine-Tuning: Resolve Submission…');
    await quickInput.waitForTitle('Submission of sums.jsonl');
    await take('Continue…');
    await quickInput.waitForTitle(/^Submit sums\.jsonl to /);
    await quickInput.item(CONTINUE).waitFor();
    assert.equal(await descriptionOf('Model'), 'Mistral 7B Instruct v0.3, Mistral AI');
    assert.equal(await descriptionOf('Label'), 'too poor');
    assert.match(await descriptionOf('Queue'), /^Priority/);
    await press('Enter');
    await quickInput.waitForTitle('Terms of Mistral AI for Mistral 7B Instruct v0.3');
    await take(ACCEPT);
    await waitForConfirm(workbench, 'sums.jsonl');
    assert.equal(sandboxLedger(vscode).labels.length, before.labels.length);
    // Enter alone goes back.
    await press('Tab');
    await press('Enter');
    await workbench.dialogs.waitForNotification(/submitted too poor\. .+ of sandbox money/);
    await runs().row('too poor, sums.jsonl, Not charged, balance too low').waitFor({ state: 'hidden' });
    const { labels, balanceCents } = sandboxLedger(vscode);
    assert.equal(labels.length, before.labels.length + 1);
    assert.match(labels.at(-1) ?? '', /^too poor ft-/);
    assert.ok(balanceCents < before.balanceCents);
    await workbench.clearNotifications();
  });

  it('with a lost response: its run is found before it would be sent again, and one charge is reported', async () => {
    const before = sandboxLedger(vscode);
    await workbench.editors.open(vscode.file('more.jsonl'));
    await chooseScenario(workbench, 'Response lost after the charge');
    await begin();
    const choices = { model: 'Qwen3 8B', label: 'lost', queue: 'Priority queue' } as const;
    await walkThroughSteps(workbench, { fileName: 'more.jsonl', ...choices });
    const said = await workbench.dialogs.waitForToast(
      /Sandbox: lost was submitted after all\. [\d.]+ USD of sandbox money\./,
    );
    await runs()
      .row(/^Run lost, /)
      .waitFor();
    const { balanceCents, labels } = sandboxLedger(vscode);
    assert.ok(said.includes(` ${((before.balanceCents - balanceCents) / 100).toFixed(2)} USD `), said);
    assert.equal(labels.length, before.labels.length + 1);
    assert.match(labels.at(-1) ?? '', /^lost ft-[\da-z]{8}$/);
    await workbench.screenshot('answer-lost');
    await workbench.clearNotifications();
  });

  it('"Reset Sandbox" asks first, then resets runs and balance', async () => {
    const before = sandboxLedger(vscode);
    await chooseInSandbox(workbench, 'Reset Sandbox…');
    await workbench.dialogs.waitForModal('Reset the sandbox?');
    await workbench.dialogs.press('Cancel');
    assert.deepEqual(sandboxLedger(vscode), before);
    await chooseInSandbox(workbench, 'Reset Sandbox…');
    await workbench.dialogs.waitForModal('Reset the sandbox?');
    await workbench.dialogs.press('Reset');
    await runs().welcomeButton('Submit Dataset').waitFor();
    await workbench.statusItem('balance').getByText('Sandbox 1,000.00 USD').waitFor();
    assert.deepEqual(sandboxLedger(vscode), { balanceCents: 100_000, labels: [] });
  });
});
