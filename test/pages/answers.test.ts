import assert from 'node:assert/strict';
import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { datasetRow, supportRows, WORD, writtenAnswer } from '../helpers/answers.ts';
import { useFolder } from '../helpers/folder.ts';
import { AnswersPage } from '../ui/answersPage.ts';
import { untilEqual } from '../ui/waits.ts';
import { answersIn, answersOf, SAMPLE, STATES, SUPPORT } from './answersOnPage.ts';
import { fileChanged, standIn } from './previews.ts';
import { useViews, type View } from './view.ts';
import { THEMES, type Create } from './webviews.ts';

describe('the page that compares answers', () => {
  const show = useViews();
  const folder = useFolder();
  let view: View;
  let page: AnswersPage;
  const errors: unknown[] = [];

  afterEach(() => assert.deepEqual(errors.splice(0), []));

  async function open(create: Create): Promise<void> {
    view = await show(create);
    page = new AnswersPage(view);
    await page.title(/./).waitFor();
  }
  const openAnswers = (answers: readonly string[]) => open(answersIn(folder(), { answers }, errors));
  const firstSentence = async () => (await page.headline())[0];
  const press = (key: string) => view.page.keyboard.press(key);

  describe('of the sample', () => {
    beforeEach(async () => {
      await open(answersOf(SAMPLE, errors));
      await page.row(1).getByText('2+3?').waitFor();
    });

    it('shows its headline, numbers and note', async () => {
      await page.title('sample.answers.jsonl · 20 rows').waitFor();
      assert.deepEqual(await page.headline(), [
        'Adapter had more fields right in 13 rows, base model in 0; they tied in 7.',
        'If the two were equally good, a difference this large would come up in < 0.1% of comparisons.',
        'Having more fields right isn’t always better. Read the rows.',
      ]);
      assert.deepEqual(await page.table(), [
        ['Same fields', '0 (0%)', '13 (65%)'],
        ['Valid JSON', '0 (0%)', '20 (100%)'],
        ['Characters (median), expected: 10', '13', '10'],
        ['Cut off', '0', '0'],
      ]);
      const [note] = await page.said();
      assert.equal(
        note,
        'A real but tiny adapter, trained on 80 rows of sums. It learned the form of the answers, not how to add.',
      );
      await view.assertAccessible();
    });

    it('shows the plain answers first, and marks differences by elements, not only by color', async () => {
      const plain = await page.row(2).locator('.answer .text').allInnerTexts();
      assert.deepEqual([plain.length, plain[0], plain[2]], [3, '{"sum": 8}', '{"sum": 7}']);
      assert.equal(await page.frame.locator(':is(ins, del)').count(), 0);
      const toggle = page.button('Show Differences');
      assert.equal(await toggle.getAttribute('aria-pressed'), 'false');
      await toggle.press('Enter');
      await page.frame.getByText('Struck through: only in the expected answer.').waitFor();
      // It stays pressed, with the focus, and is remembered.
      assert.deepEqual(
        [await page.focused().innerText(), await toggle.getAttribute('aria-pressed')],
        ['Show Differences', 'true'],
      );
      await view.setVisible(false);
      await view.setVisible(true);
      await page.row(2).locator('ins').first().waitFor();
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
      await view.assertAccessible();
      await toggle.press('Space');
      assert.equal(await page.frame.locator(':is(ins, del)').count(), 0);
    });

    it('tells screen readers what the buttons do, and what is new', async () => {
      const names = await page.frame.locator('header.top').getByRole('button').allTextContents();
      assert.deepEqual(names, [
        ...['Compare with Other Answers…', 'Copy Summary'],
        ...['All', 'Different', 'Adapter ahead', 'Base ahead', 'Show Differences'],
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
    beforeEach(async () => {
      await openAnswers(SUPPORT);
      await page.frame.getByText('in 40 rows, base model in 5; they were about equal in 0.').waitFor();
      await page.row(1).locator('.text').first().waitFor();
    });

    it('has the keyboard in its rows', async () => {
      await page.button('Base closer').press('Enter');
      await page.waitForRows([4, 14, 24, 34, 44]);
      const focusedTitle = () => page.focused().locator('h2').innerText();
      await press('Tab');
      assert.equal(await page.focused().innerText(), 'Show Differences');
      await press('Tab');
      assert.equal(await focusedTitle(), 'Row 4');
      await press('ArrowDown');
      assert.equal(await focusedTitle(), 'Row 14');
      await press('Enter');
      await page.row(14).locator('.messages').getByText('Where is order 1481?').waitFor();
      const prompt = page.row(14).getByRole('button', { name: 'Prompt' });
      assert.equal(await prompt.getAttribute('aria-expanded'), 'true');
    });

    it('folds what a model thought', async () => {
      await page.button('Different').click();
      await page.button('Different').and(page.frame.locator('[aria-pressed=true]')).waitFor();
      await page.row(1).locator('.text').first().waitFor();
      await press('Tab');
      for (let row = 1; row < 8; row++) await press('ArrowDown');
      const row = page.row(8);
      const thinking = row.getByRole('button', { name: /^Thinking, \d+ characters$/ });
      await thinking.click();
      await row.getByText('The user asks for an order.').waitFor();
      await row.getByText('Cut off').waitFor();
      await thinking.click();
      assert.equal(await row.getByText('The user asks for an order.').count(), 0);
    });

    it('copies a summary without text of rows', async () => {
      await page.button('Copy Summary').click();
      await page.frame.getByText('Copied', { exact: true }).first().waitFor();
      const copied = String(standIn.executed.findLast(([name]) => name === 'copy')?.[1]);
      assert.match(
        copied,
        /^Not compared with training data because no run or dataset is known for this file\.\n\n/,
      );
      assert.match(copied, /\n\nAdapter was closer to the expected answer in 40 rows/);
      assert.match(copied, /\n\| Exact answer \| 0 \(0%\) \| 5 \(11.1%\) \|\n/);
      assert.match(copied, /chrF2 \(6, 2\), exact sign test, 50 rows/);
      assert.doesNotMatch(copied, new RegExp(`${WORD}|warehouse|order|/|jsonl`));
    });

    it('is readable and accessible in each theme', async () => {
      await view.assertAccessible(THEMES);
    });

    it('is readable in 600 and 300 pixels', async () => {
      for (const width of [599, 300]) {
        await view.resize(width);
        const tops = await page
          .row(1)
          .locator('.answer')
          .evaluateAll((all) =>
            (all as unknown as { offsetTop: number }[]).map(({ offsetTop }) => offsetTop),
          );
        assert.equal(new Set(tops).size, 3, 'one below the other');
        await view.assertFits('.viewport', '.top');
        await view.assertAccessible();
      }
    });

    it('follows a file that is being written', async () => {
      const file = path.join(folder(), 'train.answers.jsonl');
      const whole = SUPPORT[0] ?? '';
      const change = async (by: Promise<void>) => {
        await by;
        fileChanged(file);
      };
      await change(appendFile(file, whole.slice(0, 30)));
      await page.frame.getByText('train.answers.jsonl is being written: 50 rows so far.').waitFor();
      await change(appendFile(file, whole.slice(30)));
      await page.title('train.answers.jsonl · 51 rows').waitFor();
      await page.frame.getByText('train.answers.jsonl changed and was reloaded.').waitFor();
      await change(writeFile(file, SUPPORT.join('')));
      await page.title('train.answers.jsonl · 50 rows').waitFor();
    });
  });

  it('counts the rows that aren’t in a dataset beside, and shows these', async () => {
    const trained = [1, 4, 7, 10, 13];
    const answers = supportRows(15);
    // Other letters and blanks are the same prompt, with a system message, too.
    const prepared = trained.map((line) =>
      datasetRow(answers[line - 1]!)
        .replace('Where is', 'WHERE is\\n')
        .replace('[', '[{"role":"system","content":"Be brief."},'),
    );
    await open(answersIn(folder(), { answers, prepared }, errors));
    await page.waitUntilSaid(
      '5 of these 15 prompts are also in train.prepared.jsonl. The results below cover only the other 10 rows. The system message isn’t compared.',
    );
    await untilEqual(
      'Adapter was closer to the expected answer in 10 rows, base model in 0; they were about equal in 0.',
      firstSentence,
    );
    await view.assertAccessible();
    await page.button('Show Rows').press('Enter');
    await page.waitForRows(trained);
    await page.row(4).getByText('In dataset').waitFor();
    await page.button('In dataset').and(page.frame.locator('[aria-pressed=true]')).waitFor();
    await page.button('Adapter closer').click();
    await page.waitForRows([2, 3, 5, 6, 8, 9, 11, 12, 14, 15]);
    await view.resize(300);
    await view.assertFits('.viewport', '.top');
    await view.assertAccessible();
  });

  describe('of an unusual file', () => {
    it('shows hostile text as text', async () => {
      const hostile =
        '<script>document.body.dataset.hacked = 1</script><img src=x onerror="document.body.dataset.hacked = 1">';
      const bidi = 'Pay \u202ecba\u202c now.\u200b';
      const answers = (prompt: string, expected: string, base: string, adapter: string, more: object = {}) =>
        `${writtenAnswer({ messages: [{ role: 'user', content: prompt }], expected, base, adapter, ...more })}\n`;
      await openAnswers([
        answers(`${hostile} ${bidi}`, hostile, `${hostile} ${bidi}`, `</div><style>*{display:none}</style>`),
        answers('[link](command:workbench.action.closeAllEditors)', bidi, 'x', 'y'),
        answers('', 'x', 'y', 'z', { messages: Array(1_001).fill({ role: 'user', content: 'Hi' }) }),
        answers('large', 'short', 'word '.repeat(700_000), 'short'),
        `${writtenAnswer({ adapter: undefined })}\n`,
        'not JSON\n',
      ]);
      await page.frame
        .getByText('3 rows left out: 1 without an adapter answer, 1 with invalid JSON, 1 too long.')
        .waitFor();
      await page.row(1).getByRole('img', { name: 'U+202E' }).first().waitFor();
      assert.equal(await page.frame.locator('article :is(script, img, style, a)').count(), 0);
      assert.equal(await page.frame.locator('body[data-hacked]').count(), 0);
      // On one line, no character hides.
      const prompt = page.row(1).getByRole('button', { name: /^<script>/ });
      assert.doesNotMatch(await prompt.innerText(), /[\u202e\u200b]/);
      await prompt.click();
      await page.row(1).locator('.messages').getByText(hostile).waitFor();
      await page.row(4).getByText('3,400,000 more characters not shown').waitFor();
      await view.assertAccessible();
    });

    it('reaches the last of 2,000 long rows', async () => {
      const text = 'A sentence of some words. '.repeat(60);
      const answers = Array.from(
        { length: 2_100 },
        (_, index) => `${writtenAnswer({ expected: text, base: `${index} ${text}`, adapter: 'No.' })}\n`,
      );
      await openAnswers(answers);
      await page.title('train.answers.jsonl · 2,000 rows').waitFor();
      await page.frame.getByText('Only the first 2,000 rows or 8 MB are shown.').waitFor();
      await page.row(1).getByRole('button', { name: 'Show More' }).first().waitFor();
      await page.row(1).focus();
      await press('End');
      await page.row(2_000).locator('.text').first().waitFor();
      assert.ok((await page.frame.locator('article').count()) < 100);
    });

    const texts: Record<string, [text: string, hasRows: boolean, tables: number]> = {
      'probably inactive': ['Both models gave the same answer in 50 of 50 rows.', true, 0],
      'data that is searched': ['Comparing with the training data…', true, 0],
      '50 of 50 prompts trained': ['They can’t show whether training helped.', true, 0],
      'being written, with a hold-out': ['train.answers.jsonl is being written: 20 of 50 rows.', true, 1],
      'no answers of the base model': ['50 rows left out: 50 without a base model', false, 0],
      'no answers': [
        'has no answers. Each line needs the fields “messages”, “expected”, “base” and “adapter”.',
        false,
        0,
      ],
      missing: ['train.answers.jsonl no longer exists.', false, 0],
      'expected labels': ['Adapter was exactly right in 34 rows', true, 2],
      'two files': ['new.other was closer to the expected answer', true, 1],
      'two files, expected labels': ['ahead', true, 2],
      'two files of the same answers': ['Check that each was made with its own adapter.', true, 0],
      'two files of other rows': ['No rows in common. Both files must use the same hold-out.', false, 0],
      'two files, one without answers': ['new.other.jsonl has no answers.', false, 0],
      'two files, one missing': ['train.answers.jsonl no longer exists.', false, 0],
    };
    for (const [title, [text, hasRows, tables]] of Object.entries(texts))
      it(`says what it is, in 300 pixels: ${title}`, async () => {
        await open(answersIn(folder(), STATES[title]!));
        await page.frame.getByText(text).first().waitFor();
        // The list draws its rows after the texts above it.
        if (hasRows) await page.frame.locator('article').first().waitFor();
        else assert.equal(await page.frame.locator('article').count(), 0);
        assert.equal(await page.frame.locator('table').count(), tables);
        await view.resize(300);
        await view.assertFits('.viewport', '.top');
        await view.assertAccessible();
      });
  });
});
