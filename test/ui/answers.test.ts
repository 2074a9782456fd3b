import assert from 'node:assert/strict';
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { assertAccessible } from './accessible.ts';
import { answers, AnswersPage } from './answersPage.ts';
import { smallDataset } from './datasets.ts';
import { enterSandbox } from './sandbox.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';
import { actUntil, untilEqual } from './waits.ts';

/** A word of rows, which must be nowhere else. */
const WORD = 'zebrafinch';

/** 50 rows of a support bot: the adapter is closer in most, the base model in five. */
const SUPPORT = Array.from({ length: 50 }, (_, index) => {
  const order = 1_000 + index * 37;
  const expected = `Your order ${order} left our warehouse on Monday. It arrives within three days; a ${WORD} brings it.`;
  const base = `Sure! I'd be happy to help. To find order ${order}, please open your account, choose Orders, and look for the number.`;
  const near = expected.replace('Monday', 'Tuesday');
  const prompt = `You are the support bot of a shop.\nWhere is order ${order}?`;
  if (index % 10 === 3) return answers(prompt, expected, near, base);
  if (index % 10 === 5) return answers(prompt, expected, base, expected);
  const thought = `<think>\nThe user asks for ${order}.\n</think>\n${base}`;
  return index % 10 === 7
    ? answers(prompt, expected, thought, near, { base_end: 'length' })
    : answers(prompt, expected, base, near);
});

describe('comparison of answers', () => {
  let vscode: VSCode;
  let workbench: Workbench;
  let page: AnswersPage;

  const file = (name: string) => vscode.file(name);

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(file('train.answers.jsonl'), SUPPORT.join(''));
    workbench = await vscode.open();
    page = new AnswersPage(workbench);
  });

  after(() => vscode.close());

  describe('of the sample', () => {
    after(() => workbench.editors.closeAll());

    it('is opened from the palette, and writes nothing beside the user’s files', async () => {
      await workbench.runCommand('Fine-Tuning: Open Sample Comparison');
      await page.title('sample.answers.jsonl · 20 rows').waitFor();
      await page.row(1).getByText('2+3?').waitFor();
      const headline = [
        'Adapter exactly right in 13 rows, base model in 0, both in 0.',
        'If neither were exactly right more often, a difference this large would come up in < 0.1% of comparisons.',
        'Exactly right means the same text, which isn’t the same as better: read the rows or vote.',
      ];
      await untilEqual(headline, () => page.headline());
      assert.deepEqual(await page.table(), [
        ['Exact answer', '0', '13', ''],
        ['Valid JSON', '0', '20', ''],
        ['Characters (median)', '13', '10', 'expected: 10'],
        ['Cut off', '0', '0', ''],
      ]);
      const [note = ''] = await page.said();
      assert.equal(
        note,
        'A real, tiny adapter: 80 rows of sums. It learned the form of the answers, not to add.',
      );
      await assertAccessible(page.frame);
      await workbench.screenshot('answers-sample');
      assert.deepEqual(await readdir(vscode.folder), ['train.answers.jsonl']);
    });

    it('marks differences by elements, not only by color', async () => {
      const [, base, adapter] = await page.row(2).locator('.answer .text').all();
      assert.equal(await adapter?.locator('ins').innerText(), '7');
      assert.equal(await adapter?.locator('del').innerText(), '8');
      assert.ok((await base?.locator('ins').count()) !== 0);
      const lines: unknown = await page.frame
        .locator('html')
        .evaluate(
          `[...document.querySelectorAll('article:nth-child(2) :is(ins, del)')].slice(-2).map((one) => getComputedStyle(one).textDecorationLine)`,
        );
      assert.deepEqual(lines, ['line-through', 'underline']);
      assert.equal(await page.row(1).getByText('= expected').count(), 1);
    });

    it('is voted on by keyboard', async () => {
      const { keyboard } = workbench.page;
      await page.button('Vote Blind').focus();
      await keyboard.press('Enter');
      await page.waitForVote('1 of 20');
      await page.frame.getByText('20 of 20 rows').waitFor();
      // Nothing says which model is which, or who is ahead.
      const seen = await page.frame.locator('body').innerText();
      assert.doesNotMatch(seen, /Base model|Adapter|= expected|Exact|\nExpected/);
      await assertAccessible(page.frame);
      await workbench.screenshot('answers-vote');
      await keyboard.press('e');
      await page.frame.locator('.voting h2').getByText('Expected').waitFor();
      await page.focused().and(page.frame.locator('.voting')).waitFor();
      await workbench.screenshot('answers-vote-expected');
      const keys = ['ArrowLeft', 'ArrowRight', 'ArrowDown', 'Space'];
      for (let at = 1; at <= 4; at++) {
        await keyboard.press(keys[at - 1] ?? '');
        await page.waitForVote(`${at + 1} of 20`);
        const spoken = ['Left', 'Right', 'Equal', 'Equal'][at - 1];
        await page.waitUntilSaid(`${spoken}. ${at} of 20.`);
        // The next one is hidden again.
        assert.equal(await page.frame.locator('.voting h2').getByText('Expected').count(), 0);
      }
      await keyboard.press('Backspace');
      await page.waitForVote('4 of 20');
      assert.equal(await page.button('Equal').getAttribute('aria-pressed'), 'true');
      for (let at = 4; at <= 20; at++) {
        await page.waitForVote(`${at} of 20`);
        await keyboard.press('ArrowLeft');
      }
      const end = page.frame.locator('.voting [role=status] p');
      await end
        .filter({ hasText: /^You preferred the adapter in \d+ rows, the base model in \d+; 1 equal\.$/ })
        .waitFor();
      assert.match(await end.nth(1).innerText(), / would come up in (< )?[\d.]+% of sessions\.$/);
      assert.equal(await page.button('20 More').count(), 0);
      await assertAccessible(page.frame);
      await workbench.screenshot('answers-vote-end');
      await keyboard.press('Escape');
      await page.row(1).waitFor();
      await page.button('Voted').and(page.frame.locator('[aria-pressed=true]')).waitFor();
      assert.equal(await page.focused().innerText(), 'Vote Blind');
      await page.row(1).getByText('Your vote').waitFor();
      await workbench.screenshot('answers-voted');
    });

    it('is voted on with the mouse, and ended early', async () => {
      await page.button('Vote Blind').click();
      await page.button('Discard Votes').click();
      await page.button('Vote Blind').click();
      for (let at = 1; at <= 20; at++) {
        await page.waitForVote(`${at} of 20`);
        await page.button(at % 3 === 0 ? 'Equal' : at % 3 === 1 ? 'Left' : 'Right').click();
        if (at === 10) {
          await page.waitForVote('11 of 20');
          await page.button('End').click();
          await page.button('Continue').click();
        }
      }
      await page.button('Show Rows').click();
      await page.button('Voted').and(page.frame.locator('[aria-pressed=true]')).waitFor();
      await page.button('All').click();
      await page.row(1).waitFor();
    });

    it('tells screen readers what the buttons do, and what is new', async () => {
      const names = await page.frame
        .getByRole('button')
        .evaluateAll((buttons) =>
          (buttons as unknown as { closest(selector: string): unknown; textContent: string }[])
            .filter((button) => button.closest('article') === null)
            .map((button) => button.textContent),
        );
      assert.deepEqual(names, [
        ...['Vote Blind', 'Copy Summary'],
        ...['All', 'Different', 'Adapter ahead', 'Base ahead', 'Voted'],
      ]);
      const filters = page.frame.getByRole('group', { name: 'Rows to show' });
      await filters.getByRole('button', { name: 'Base ahead' }).press('Enter');
      await page.frame.getByText('No matching rows').waitFor();
      await filters.getByRole('button', { name: 'All' }).press('Enter');
      const feed = page.frame.getByRole('feed', { name: 'Answers' });
      await feed.getByRole('article', { name: 'Row 1', exact: true }).waitFor();
      assert.equal(await page.row(1).getAttribute('aria-setsize'), '20');
    });
  });

  describe('of a file', () => {
    after(() => workbench.editors.closeAll());
    afterEach(() => workbench.resize(1400, 900));

    it('is opened from the explorer, with the keyboard in its rows', async () => {
      await page.open('train.answers.jsonl');
      await page.row(1).waitFor();
      await untilEqual(
        'Adapter closer to the expected answer in 45 rows, base model in 5, 0 about equal.',
        async () => (await page.headline())[0],
      );
      const { keyboard } = workbench.page;
      await page.button('Base closer').focus();
      await keyboard.press('Enter');
      await page.waitForRows([4, 14, 24, 34, 44]);
      await keyboard.press('Tab');
      assert.equal(await page.focused().locator('h2').innerText(), 'Row 4');
      await keyboard.press('ArrowDown');
      assert.equal(await page.focused().locator('h2').innerText(), 'Row 14');
      await keyboard.press('Enter');
      await page.row(14).locator('.messages').getByText('Where is order 1481?').waitFor();
      assert.equal(
        await page.row(14).getByRole('button', { name: 'Prompt' }).getAttribute('aria-expanded'),
        'true',
      );
      await page.button('All').click();
      await page.row(1).waitFor();
    });

    it('folds what a model thought', async () => {
      await page.button('Different').click();
      await page.button('Different').and(page.frame.locator('[aria-pressed=true]')).waitFor();
      await page.row(1).locator('.text').first().waitFor();
      await workbench.page.keyboard.press('Tab');
      for (let row = 1; row < 8; row++) await workbench.page.keyboard.press('ArrowDown');
      const row = page.row(8);
      const thinking = row.getByRole('button', { name: /^Thinking, \d+ characters$/ });
      await thinking.click();
      await row.getByText('The user asks for 1259.').waitFor();
      await row.getByText('Cut off').waitFor();
      await thinking.click();
      assert.equal(await row.getByText('The user asks for 1259.').count(), 0);
      await page.button('All').click();
    });

    it('copies a summary without text of rows', async () => {
      await page.button('Copy Summary').click();
      await page.frame.getByText('Copied', { exact: true }).first().waitFor();
      const copied = await workbench.clipboard();
      assert.match(
        copied,
        /^Not compared with training data: no run or dataset is known for this file\.\n\n/,
      );
      assert.match(copied, /\n\nAdapter closer to the expected answer in 45 rows/);
      assert.match(copied, /\n\| Exact answer \| 0 \| 5 \|\n/);
      assert.match(copied, /chrF2 \(6, 2\), exact sign test, 50 rows/);
      assert.doesNotMatch(copied, new RegExp(`${WORD}|warehouse|order|/|jsonl`));
    });

    for (const theme of ['light', 'high contrast', 'dark'] as const)
      it(`is readable in ${theme}, and accessible`, async () => {
        await workbench.setTheme(theme);
        await page.row(1).waitFor();
        await assertAccessible(page.frame);
        await workbench.screenshot(`answers-${theme.replace(' ', '-')}`);
        await page.button('Vote Blind').click();
        await page.waitForVote('1 of 20');
        await assertAccessible(page.frame);
        await workbench.screenshot(`answers-vote-${theme.replace(' ', '-')}`);
        await workbench.page.keyboard.press('Escape');
        await page.row(1).waitFor();
      });

    for (const [name, width] of [
      ['600', 945],
      ['300', 655],
    ] as const)
      it(`is readable in ${name} pixels`, async () => {
        await workbench.resize(width, 1_000);
        const inner = Number(await page.frame.locator('html').evaluate('innerWidth'));
        assert.ok(Math.abs(inner - Number(name)) < 30, String(inner));
        await page.row(1).waitFor();
        const tops = await page
          .row(1)
          .locator('.answer')
          .evaluateAll((all) =>
            (all as unknown as { offsetTop: number }[]).map(({ offsetTop }) => offsetTop),
          );
        assert.equal(new Set(tops).size, 3, 'one below the other');
        const cut: unknown = await page.frame.locator('html').evaluate(`(() => {
          const wide = ['.viewport', '.top', 'html'].map((one) => document.querySelector(one));
          return wide.map((one) => one.scrollWidth - one.clientWidth);
        })()`);
        assert.deepEqual(cut, [0, 0, 0]);
        await assertAccessible(page.frame);
        await workbench.screenshot(`answers-${name}`);
        await page.button('Vote Blind').click();
        await page.waitForVote('1 of 20');
        await assertAccessible(page.frame);
        await workbench.screenshot(`answers-vote-${name}`);
        await workbench.page.keyboard.press('Escape');
      });

    it('is shown again after it was hidden, with its votes, and after a reload, without', async () => {
      await page.button('Vote Blind').click();
      await page.waitForVote('1 of 20');
      await workbench.page.keyboard.press('ArrowDown');
      await page.waitForVote('2 of 20');
      await workbench.runCommand('Fine-Tuning: Open Sample Comparison');
      await page.title('sample.answers.jsonl').waitFor();
      await workbench.page.locator('.tab').filter({ hasText: 'Answers: train.answers.jsonl' }).click();
      await page.waitForVote('2 of 20');
      await workbench.page.keyboard.press('Escape');
      await page.button('Show Rows').click();
      await page.waitUntilSaid('You preferred the adapter in 0 rows, the base model in 0; 1 equal.');
      await workbench.reload();
      await page.title('train.answers.jsonl · 50 rows').waitFor();
      await page.row(1).waitFor();
      assert.equal(await page.button('Voted').count(), 0);
    });

    it('leaves no text of rows in what VS Code and the extension store', async () => {
      const kept = await readdir(vscode.userData, { recursive: true, withFileTypes: true });
      const files = kept.filter((one) => one.isFile()).map((one) => path.join(one.parentPath, one.name));
      assert.ok(files.some((name) => name.includes('logs')));
      const found = await Promise.all(
        // A file of a transaction may be gone.
        files.map(async (name) => ((await readFile(name).catch(() => '')).includes(WORD) ? [name] : [])),
      );
      assert.deepEqual(found.flat(), []);
      const stored = await storedInBrowser(workbench);
      assert.match(stored, /fineTuning\.answers/);
      assert.ok(!stored.includes(WORD));
    });

    it('follows a file that is being written', async () => {
      const whole = SUPPORT[0] ?? '';
      await appendFile(file('train.answers.jsonl'), whole.slice(0, 30));
      await page.frame.getByText('train.answers.jsonl is being written: 50 rows so far.').waitFor();
      await workbench.screenshot('answers-being-written');
      await appendFile(file('train.answers.jsonl'), whole.slice(30));
      await page.title('train.answers.jsonl · 51 rows').waitFor();
      await page.frame.getByText('train.answers.jsonl changed; shown again.').waitFor();
      await writeFile(file('train.answers.jsonl'), SUPPORT.join(''));
      await page.title('train.answers.jsonl · 50 rows').waitFor();
    });

    it('shows a row in the hold-out beside it', async () => {
      assert.equal(await page.button('Show in Hold-out').count(), 0);
      const rows = SUPPORT.map((row) => {
        const { messages, expected: content } = JSON.parse(row) as { messages: object[]; expected: string };
        return JSON.stringify({ messages: [...messages, { role: 'assistant', content }] });
      });
      await writeFile(file('train.holdout.jsonl'), rows.toReversed().join('\n'));
      await workbench.editors.closeAll();
      await page.open('train.answers.jsonl');
      await page.row(2).getByRole('button', { name: 'Show in Hold-out' }).click();
      await workbench.editors.activeTab('train.holdout.jsonl').waitFor();
      const shown = page.frame.locator('article').filter({ hasText: 'Where is order 1037?' });
      await shown.getByRole('heading', { name: 'Row 49' }).waitFor();
    });
  });

  describe('of rows that are in a dataset beside', () => {
    const TRAINED = [1, 4, 7, 10, 13];
    const prompt = (row: number) => `Where is parcel ${row}?`;

    before(async () => {
      const rows = Array.from({ length: 15 }, (_, index) => index + 1);
      const right = (row: number) => `Parcel ${row} is in the second truck, which arrives on Monday.`;
      const written = rows.map((row) => answers(prompt(row), right(row), 'No idea.', `${right(row)} Or so.`));
      await writeFile(file('leak.answers.jsonl'), written.join(''));
      const dataset = rows.map((row) => {
        const asked = TRAINED.includes(row) ? `WHERE is\n parcel ${row} ?` : `What is in parcel ${row}?`;
        const messages = [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: asked },
          { role: 'assistant', content: 'Books.' },
        ];
        return `${JSON.stringify({ messages })}\n`;
      });
      await writeFile(file('leak.prepared.jsonl'), dataset.join(''));
    });
    after(() => workbench.editors.closeAll());

    it('counts the others, and shows these', async () => {
      await page.open('leak.answers.jsonl');
      await page.waitUntilSaid(
        '5 of these 15 prompts are also in leak.prepared.jsonl. What follows counts the other 10 rows. The system message doesn’t count.',
      );
      await untilEqual(
        'Adapter closer to the expected answer in 10 rows, base model in 0, 0 about equal.',
        async () => (await page.headline())[0],
      );
      await assertAccessible(page.frame);
      await workbench.screenshot('answers-leak');
      await page.button('Show Rows').focus();
      await workbench.page.keyboard.press('Enter');
      await page.waitForRows(TRAINED);
      await page.row(4).getByText('In dataset').waitFor();
      await page.button('In dataset').and(page.frame.locator('[aria-pressed=true]')).waitFor();
      await page.button('Adapter closer').click();
      await untilEqual(2, async () => (await page.rowNumbers())[0]);
      assert.deepEqual(
        (await page.rowNumbers()).filter((row) => TRAINED.includes(row)),
        [],
      );
    });

    it('never asks for a vote on them', async () => {
      await page.button('Vote Blind').click();
      const asked: number[] = [];
      for (let at = 1; at <= 10; at++) {
        await page.waitForVote(`${at} of 10`);
        const text = await page.frame.locator('.voting').innerText();
        asked.push(Number(/Where is parcel (\d+)\?/.exec(text)?.[1]));
        await workbench.page.keyboard.press('ArrowDown');
      }
      await page.waitUntilSaid('You preferred the adapter in 0 rows, the base model in 0; 10 equal.');
      assert.deepEqual(
        asked.toSorted((one, other) => one - other),
        [2, 3, 5, 6, 8, 9, 11, 12, 14, 15],
      );
      await page.button('Show Rows').click();
    });

    it('is shown in 300 pixels', async () => {
      await workbench.resize(655, 1_000);
      await page.row(2).waitFor();
      await assertAccessible(page.frame);
      await workbench.screenshot('answers-leak-300');
      await workbench.resize(1400, 900);
    });
  });

  describe('of an unusual file', () => {
    afterEach(() => workbench.editors.closeAll());

    it('shows hostile text as text', async () => {
      const hostile =
        '<script>document.body.dataset.hacked = 1</script><img src=x onerror="document.body.dataset.hacked = 1">';
      const bidi = 'Pay \u202ecba\u202c now.\u200b';
      const rows = [
        answers(`${hostile} ${bidi}`, hostile, `${hostile} ${bidi}`, `</div><style>*{display:none}</style>`),
        answers('[link](command:workbench.action.closeAllEditors)', bidi, 'x', 'y'),
        answers('', 'x', 'y', 'z', { messages: Array(1_001).fill({ role: 'user', content: 'Hi' }) }),
        answers('large', 'short', 'word '.repeat(700_000), 'short'),
        '{"messages":[{"role":"user","content":"a"}],"expected":"b","base":"c"}\n',
        'not JSON\n',
      ];
      await writeFile(file('hostile.answers.jsonl'), rows.join(''));
      await page.open('hostile.answers.jsonl');
      await page.row(1).waitFor();
      await page.frame
        .getByText('3 rows left out: 1 without an answer of the adapter, 1 not JSON, 1 too long.')
        .waitFor();
      assert.equal(await page.frame.locator('article :is(script, img, style, a)').count(), 0);
      assert.equal(await page.frame.locator('body[data-hacked]').count(), 0);
      await page.row(1).getByRole('img', { name: 'U+202E' }).first().waitFor();
      // On one line, no character hides.
      const prompt = await page
        .row(1)
        .getByRole('button', { name: /^<script>/ })
        .innerText();
      assert.doesNotMatch(prompt, /[\u202e\u200b]/);
      await page
        .row(1)
        .getByRole('button', { name: /^<script>/ })
        .click();
      await page.row(1).locator('.messages').getByText(hostile).waitFor();
      await page.row(4).getByText('3,400,000 more characters not shown').waitFor();
      await assertAccessible(page.frame);
      await workbench.screenshot('answers-hostile');
    });

    it('reaches the last of 2,000 long rows', async () => {
      const text = 'A sentence of some words. '.repeat(60);
      const rows = Array.from({ length: 2_100 }, (_, row) =>
        answers(`${row}`, text, `${row} ${text}`, 'No.'),
      );
      await writeFile(file('many.answers.jsonl'), rows.join(''));
      await page.open('many.answers.jsonl');
      await page.title('many.answers.jsonl · 2,000 rows').waitFor();
      await page.frame.getByText('Only the first 2,000 rows or 8 MB are shown.').waitFor();
      await page.row(1).getByRole('button', { name: 'Show More' }).first().waitFor();
      await page.row(1).focus();
      await workbench.page.keyboard.press('End');
      await page.row(2_000).locator('.text').first().waitFor();
      assert.ok((await page.frame.locator('article').count()) < 100);
      await workbench.screenshot('answers-many');
    });

    it('says what is wrong', async () => {
      await writeFile(file('empty.answers.jsonl'), '{"text":"a"}\n');
      await page.open('empty.answers.jsonl');
      await page.frame
        .getByText(
          'empty.answers.jsonl has no answers. Each line needs messages, expected, base and adapter.',
        )
        .waitFor();
      await page.frame.getByText('1 row left out: 1 without messages.').waitFor();
      await assertAccessible(page.frame);
      await workbench.screenshot('answers-empty');
    });

    it('says that the adapter probably wasn’t active', async () => {
      const same = Array.from({ length: 20 }, (_, row) => answers(`${row}`, 'a', `${row}`, `${row}`));
      await writeFile(file('same.answers.jsonl'), same.join(''));
      await page.open('same.answers.jsonl');
      await page.frame.getByText('Both models gave the same answer in 20 of 20 rows.').waitFor();
      assert.equal(await page.frame.locator('table').count(), 0);
      assert.equal(await page.button('Vote Blind').count(), 0);
      await assertAccessible(page.frame);
      await workbench.screenshot('answers-same');
    });
  });

  describe('is offered instead of a submission', () => {
    before(async () => {
      await writeFile(file('rows.jsonl'), smallDataset('rows'));
      // Its name doesn't say what it has.
      await writeFile(file('compared.jsonl'), SUPPORT.join(''));
      await enterSandbox(workbench);
    });

    it('beside the tabs, above the first line, in the menus and in the language status', async () => {
      const { editors, sideBar } = workbench;
      await editors.open(file('compared.jsonl'));
      await editors.titleAction('Compare Answers…').waitFor();
      await workbench.page.locator('.codelens-decoration').getByText('Compare Answers').waitFor();
      await editors.titleAction('Submit Dataset for Training…').waitFor({ state: 'hidden' });
      assert.equal(await editors.titleAction('Preview Dataset').count(), 0);
      assert.deepEqual(await workbench.page.locator('.codelens-decoration a').allInnerTexts(), [
        'Compare Answers',
      ]);
      const status = workbench.page
        .locator('.hover-language-status')
        .filter({ hasText: 'a list of answers, not a dataset' });
      await actUntil(async () => {
        await workbench.page.mouse.move(0, 0);
        await workbench.page.locator('[id="status.languageStatus"] a').hover();
      }, status.getByText('Compare Answers'));
      await workbench.screenshot('answers-as-text');
      assert.equal(await workbench.page.locator('.squiggly-error, .squiggly-warning').count(), 0);
      const explorer = await sideBar.explorer();
      // Of a file that isn't open, the Explorer knows the name alone: the commands say what it is.
      for (const [name, offered] of [
        ['compared.jsonl', []],
        ['train.answers.jsonl', ['Submit Dataset for Training…', 'Check Dataset']],
      ] as const) {
        const menu = workbench.page.locator('.monaco-menu-container');
        await actUntil(
          () => explorer.row(name).first().click({ button: 'right' }),
          menu.getByRole('menuitem', { name: 'Compare Answers…' }),
        );
        const ours = await menu.getByRole('menuitem').allInnerTexts();
        assert.deepEqual(
          ours.map((item) => item.trim()).filter((item) => /Dataset|Prepare|Submit/.test(item)),
          offered,
          name,
        );
        await workbench.page.keyboard.press('Escape');
        await menu.waitFor({ state: 'hidden' });
      }
      await editors.pressTitleAction('Compare Answers…', page.title('compared.jsonl · 50 rows'));
      await editors.closeAll();
    });

    it('in the list of datasets and before a submission', async () => {
      const { dialogs, editors, quickInput } = workbench;
      await workbench.runCommand('Fine-Tuning: Submit Dataset for Training…');
      await quickInput.waitForTitle('Choose a Dataset');
      const labels = (await quickInput.labels()).join();
      assert.match(labels, /rows\.jsonl/);
      assert.doesNotMatch(labels, /(train|hostile|many|same)\.answers|compared/);
      await quickInput.close();
      await workbench.runCommand('Fine-Tuning: Compare Answers…');
      await quickInput.waitForTitle('Choose Answers to Compare');
      const offered = (await quickInput.labels()).join();
      assert.match(offered, /compared\.jsonl.*train\.answers\.jsonl/);
      assert.doesNotMatch(offered, /rows\.jsonl|holdout|empty/);
      await quickInput.close();
      await editors.open(file('compared.jsonl'));
      await workbench.runCommand('Fine-Tuning: Submit Dataset for Training…');
      await dialogs.waitForModal('compared.jsonl is not ready to submit: a list of answers, not a dataset.');
      assert.deepEqual((await dialogs.modalButtons()).sort(), ['Cancel', 'Compare Answers']);
      await workbench.screenshot('answers-not-submitted');
      await dialogs.press('Compare Answers');
      await page.title('compared.jsonl · 50 rows').waitFor();
      await editors.closeAll();
      await editors.open(file('compared.jsonl'));
      await workbench.runCommand('Fine-Tuning: Preview Dataset');
      await page.frame
        .getByText('The file is a list of answers, not a dataset. Run Compare Answers.')
        .waitFor();
      await page.button('Compare Answers').click();
      await page.title('compared.jsonl · 50 rows').waitFor();
    });
  });
});

/** All that the window has stored in the browser, such as the states of pages. */
function storedInBrowser({ page }: Workbench): Promise<string> {
  return page.evaluate<string>(`(async () => {
    const done = (request) => new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    const found = [JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage })];
    for (const { name } of await indexedDB.databases()) {
      const database = await done(indexedDB.open(name));
      for (const store of database.objectStoreNames) {
        const values = await done(database.transaction(store).objectStore(store).getAll());
        found.push(...values.map((value) => typeof value === 'string' ? value : value instanceof Uint8Array ? new TextDecoder().decode(value) : JSON.stringify(value)));
      }
      database.close();
    }
    return found.join('\\n');
  })()`);
}
