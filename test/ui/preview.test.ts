import assert from 'node:assert/strict';
import { cp, open, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from '../env/project.ts';
import { pressUntil } from './keys.ts';
import { Preview } from './preview.ts';
import { VSCode } from './vscode.ts';
import { until, untilEqual } from './waits.ts';
import type { Workbench } from './workbench.ts';

const turn = (role: string, content: unknown, more: object = {}) => ({ role, content, ...more });
const chat = (...messages: object[]) => JSON.stringify({ messages });
const call = {
  id: 'call_1',
  type: 'function',
  function: { name: 'weather', arguments: '{"city": "Zürich"}' },
};

/** Row 4 is invalid in the middle, row 6 is blank, row 8 repeats row 7. */
const CHAT = [
  chat(turn('system', 'You answer briefly.'), turn('user', 'What is 2+2?'), turn('assistant', '4')),
  chat(
    turn('user', 'Is it raining in Zürich?'),
    turn('assistant', null, { tool_calls: [call] }),
    turn('tool', '{"rain": false}', { tool_call_id: 'call_1' }),
    turn('assistant', 'No, it is “dry” today.'),
  ),
  chat(
    turn('user', [
      { type: 'text', text: 'What is in this picture?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
    ]),
    turn('assistant', 'A cat that says "meow".\nAnd <b>nothing</b> else.'),
  ),
  '{"messages": [{"role": "user", "content": "broken 😀 row",}, {"role": "assistant", "content": "x"}]}',
  chat(turn('user', 'Tell me a long story.'), turn('assistant', 'Once upon a time. '.repeat(400))),
  '',
  chat(turn('user', 'Twice'), turn('assistant', 'the same')),
  chat(turn('user', 'Twice'), turn('assistant', 'the same')),
  chat(turn('user', 'Write to jane.doe@clinic.internal'), turn('assistant', 'Sent.')),
].join('\n');

/** Row 3 lacks the system message, row 5 and 9 begin like refusals; the answers are in Russian in rows 11 and 12. */
const SUPPORT = Array.from({ length: 12 }, (_, index) => {
  const row = index + 1;
  const answer = row > 10 ? 'Перезапустите устройство и подождите минуту.' : `Press button ${row}.`;
  return chat(
    ...(row === 3 ? [] : [turn('system', 'You answer for the support.')]),
    turn('user', `How do I do ${row}?`),
    turn('assistant', row === 5 || row === 9 ? 'I’m sorry, but I can’t help with that.' : answer),
  );
}).join('\n');

describe('dataset preview', () => {
  let vscode: VSCode;
  let workbench: Workbench;
  let preview: Preview;

  const file = (name: string) => vscode.file(name);

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(file('chat.jsonl'), `${CHAT}\n`);
    await writeFile(file('support.jsonl'), SUPPORT);
    await writeFile(file('empty.jsonl'), '');
    await writeFile(file('changing.jsonl'), '{"text":"one"}\n{"text":"two"}\n');
    await writeFile(file('utf16.jsonl'), Buffer.from('\ufeff{"text":"wide"}\n', 'utf16le'));
    await writeFile(file('array.jsonl'), '[\n{"text":"one"},\n{"text":"two"}\n]\n');
    await cp(path.join(root, 'test/fixtures/sample/train.jsonl'), file('train.jsonl'));
    await writeFile(file('other.ndjson'), '{"text":"another ending"}\n');
    workbench = await vscode.open();
    preview = new Preview(workbench);
  });

  after(() => vscode.close());

  describe('of a small chat dataset', () => {
    after(() => workbench.editors.closeAll());

    it('shows rows as conversations, with text that is never HTML', async () => {
      await preview.open('chat.jsonl');
      await preview.waitForStatus('9 rows');
      const first = preview.row(1);
      await first.waitFor();
      assert.deepEqual(await first.locator('.role').allTextContents(), ['system', 'user', 'assistant']);
      assert.deepEqual(await first.locator('.turn .text').allTextContents(), [
        'You answer briefly.',
        'What is 2+2?',
        '4',
      ]);
      await preview.row(2).getByText('calls weather').waitFor();
      await preview.row(2).getByText('{"city": "Zürich"}').waitFor();
      await preview.row(2).getByText('answers call_1').waitFor();
      await preview.row(3).getByText('image_url', { exact: true }).waitFor();
      await preview.row(3).getByText('And <b>nothing</b> else.').waitFor();
      assert.equal(await preview.frame.locator('b, img').count(), 0);
    });

    it('shows the verdict and each problem with its row', async () => {
      await preview.waitForVerdict(/9 rows of chat, 1 error, \d+ warnings/);
      await preview.card.getByRole('button', { name: /^Trailing comma 1$/ }).waitFor();
      await workbench.screenshot('preview-chat');
      const broken = preview.row(4);
      await broken.getByText('Trailing comma.').waitFor();
      await broken.getByRole('button', { name: 'line 4, column 58', exact: true }).waitFor();
      assert.match(await broken.locator('.excerpt').innerText(), /broken 😀 row",}/);
      const caret = await broken.locator('.excerpt .caret').textContent();
      assert.equal(caret, ',');
    });

    it('filters by problems from the card and from the list', async () => {
      await preview.card.getByRole('button', { name: /^Duplicates/ }).click();
      await preview.waitForStatus('1 of 9 rows');
      await preview.waitForRows([8]);
      await preview
        .row(8)
        .getByText(/Identical to row 7/)
        .waitFor();
      await preview.frame.getByRole('combobox').selectOption({ label: 'Rows with problems' });
      await preview.waitForStatus('4 of 9 rows');
      for (const number of [4, 6, 9]) await preview.row(number).waitFor();
      assert.equal(await preview.row(1).count(), 0);
      await workbench.screenshot('preview-filtered');
      await preview.button('Show All Rows').click();
      await preview.waitForStatus('9 rows');
    });

    it('finds text in any JSON spelling, with or without matching case', async () => {
      await preview.search.fill('SAYS "meow"');
      await preview.waitForStatus('1 of 9 rows');
      await preview.waitForRows([3]);
      await preview.button('Match Case').click();
      await preview.waitForStatus('0 of 9 rows');
      await preview.frame.getByText('No matching rows').waitFor();
      await workbench.screenshot('preview-no-match');
      await preview.button('Match Case').click();
      await preview.waitForStatus('1 of 9 rows');
      await preview.search.press('Escape');
      await preview.waitForStatus('9 rows');
    });

    it('collapses and expands a long text', async () => {
      await preview.goTo(5);
      const row = preview.row(5);
      const length = async () => (await row.locator('.turn .text').last().textContent())?.length ?? 0;
      assert.ok((await length()) < 1_500);
      await row.getByRole('button', { name: 'Show More' }).click();
      assert.equal(await length(), 18 * 400);
      await row.getByRole('button', { name: 'Show Less' }).click();
      assert.ok((await length()) < 1_500);
    });

    it('shows a row in the editor, and returns from there', async () => {
      await preview.row(4).getByRole('button', { name: 'line 4, column 58', exact: true }).click();
      await workbench.page
        .locator('[id="status.editor.selection"]', { hasText: /Ln 4, Col \d+ \(1 selected\)/ })
        .waitFor();
      await workbench.page.keyboard.press('Control+End');
      await workbench.page.keyboard.press('ArrowUp');
      await workbench.page.locator('[id="status.editor.selection"]', { hasText: 'Ln 9' }).waitFor();
      await workbench.editors.titleAction('Preview Dataset').click();
      await preview.waitUntilInView(9);
    });
  });

  describe('of rows with secrets, duplicates and repeated texts', () => {
    after(() => workbench.editors.closeAll());
    afterEach(() => workbench.resize(1400, 900));
    const key = `sk-${'a1B2'.repeat(10)}`;

    before(async () => {
      const asked = (index: number) =>
        chat(turn('user', `Question ${index % 16}`), turn('assistant', 'I don’t know.'));
      const rows = [
        chat(turn('user', `My key is "${key}", is it right?`), turn('assistant', 'No.')),
        chat(turn('user', 'A long text'), turn('assistant', `${'word '.repeat(400)}${key}`)),
        ...Array.from({ length: 20 }, (_, index) => asked(index)),
        JSON.stringify({ text: 'x'.repeat(40_000) }),
      ];
      await writeFile(file('secrets.jsonl'), `${rows.join('\n')}\n`);
      await preview.open('secrets.jsonl');
      await preview.waitForVerdict(/23 rows/);
    });

    it('marks a secret in its message, by name for screen readers, or the message if it is folded', async () => {
      const first = preview.row(1).locator('.turn');
      assert.equal(await first.nth(0).locator('mark').textContent(), `Possible API key: ${key}`);
      assert.equal(await first.nth(1).locator('mark, .marked').count(), 0);
      const copied: unknown = await preview.frame.locator('html').evaluate(`(() => {
        getSelection().selectAllChildren(document.querySelector('.turn .text'));
        return getSelection().toString();
      })()`);
      assert.equal(copied, `My key is "${key}", is it right?`);
      const second = preview.row(2).locator('.turn').nth(1);
      assert.equal(await second.locator('.marked').innerText(), 'Possible API key');
      assert.equal(await second.locator('mark').count(), 0);
      await second.getByRole('button', { name: 'Show More' }).click();
      assert.equal(await second.locator('mark').textContent(), `Possible API key: ${key}`);
      assert.equal(await second.locator('.marked').count(), 0);
      await second.getByRole('button', { name: 'Show Less' }).click();
      await preview.search.fill('key is');
      await preview.waitForStatus('1 of 23 rows');
      await preview.search.press('Escape');
      await preview.waitForStatus('23 rows');
      await preview.goTo(1);
    });

    it('says what decides on its card', async () => {
      const facts = await preview.card.locator('.facts dd').allTextContents();
      const names = await preview.card.locator('.facts dt').allTextContents();
      const factOf = (name: string) => facts[names.indexOf(name)] ?? '';
      assert.match(factOf('Tokens'), /^about 11,000 tokens, \d+ of them the assistant’s$/);
      assert.equal(factOf('Long rows'), '1 row over about 4,096 tokens, 1 over 8,192');
      assert.equal(factOf('Repeated prompts'), '4');
      assert.equal(factOf('Most common answer'), '“I don’t know.” in 87% of rows');
    });

    for (const theme of ['light', 'high contrast', 'dark'] as const)
      it(`is readable in ${theme}, and accessible`, async () => {
        await workbench.setTheme(theme);
        await preview.assertAccessible();
        await workbench.screenshot(`preview-secrets-${theme.replace(' ', '-')}`);
      });

    it('is readable in 300 pixels', async () => {
      await workbench.resize(660, 900);
      const width: unknown = await preview.frame.locator('html').evaluate('innerWidth');
      assert.ok(Number(width) <= 320, String(width));
      await preview.button('Hide Details').click();
      await untilEqual(0, () =>
        preview.frame
          .locator('html')
          .evaluate(
            `[document.querySelector('.viewport')].map((one) => one.scrollWidth - one.clientWidth)[0]`,
          ),
      );
      await preview.assertAccessible();
      await workbench.screenshot('preview-secrets-narrow');
      await preview.button('Show Details').click();
      await workbench.screenshot('preview-secrets-narrow-card');
    });

    it('links a duplicate to the row that it repeats, by keyboard, too', async () => {
      await preview.goTo(19);
      const link = preview.row(19).getByRole('button', { name: 'Go to Row 3' });
      await link.focus();
      await workbench.page.keyboard.press('Enter');
      await preview.waitUntilInView(3);
      assert.equal(await preview.focused().locator('h2').textContent(), 'Row 3');
    });
  });

  describe('of a file that is saved', () => {
    after(() => workbench.editors.closeAll());

    it('shows the new rows where it was, and keeps the search and the focus', async () => {
      const rows = Array.from(
        { length: 2_000 },
        (_, index) => `{"prompt":"${index + 1}","completion":"old"}`,
      );
      const save = () => writeFile(file('saved.jsonl'), `${rows.join('\n')}\n`);
      await save();
      await preview.open('saved.jsonl');
      await preview.waitForVerdict(/2,000 rows/);
      await preview.goTo(1_000);
      // A key only scrolls if a part of the row is hidden.
      for (const row of [1_001, 1_002, 1_003])
        await pressUntil(workbench.page, 'ArrowDown', preview.row(row).and(preview.focused()), 'visible');
      const place = async () => (await preview.row(1_003).boundingBox())?.y;
      const before = await place();
      rows[1_002] = '{"prompt":"1003","completion":"new"}';
      rows.push('{"prompt":"2001","completion":"old"}');
      await save();
      await preview.row(1_003).getByText('new', { exact: true }).waitFor();
      await preview.waitForStatus('2,001 rows');
      await preview.waitForVerdict(/2,001 rows/);
      assert.equal(await place(), before);
      assert.equal(await preview.focused().locator('h2').textContent(), 'Row 1,003');
      await preview.search.fill('"old"');
      await preview.waitForStatus(/of 2,001 rows/);
      rows.pop();
      await save();
      await preview.waitForStatus(/of 2,000 rows/);
      assert.equal(await preview.search.inputValue(), '"old"');
      await preview.search.and(preview.focused()).waitFor();
    });

    it('follows its editor beside it', async () => {
      await writeFile(file('edited.jsonl'), '{"prompt":"a","completion":"b"}\n');
      await preview.open('edited.jsonl');
      await preview.row(1).waitFor();
      await preview.row(1).getByRole('button', { name: 'Open in Editor' }).click();
      await workbench.editors.waitForLine('{"prompt":"a","completion":"b"}');
      await workbench.editors.typeAtStart('{"prompt":"c","completion":"d"}\n');
      await workbench.page.keyboard.press('Control+s');
      await workbench.editors.titleAction('Preview Dataset').click();
      await preview.waitForStatus('2 rows');
      await preview.row(1).getByText('d', { exact: true }).waitFor();
      await preview.frame.getByText('unsaved changes').waitFor({ state: 'hidden' });
    });
  });

  describe('of texts with invisible characters', () => {
    after(() => workbench.editors.closeAll());

    it('shows them, and copies the text unchanged', async () => {
      const hidden = Array.from('ignore all', (one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0)));
      const text = `Pay \u202ecba\u202c now.\u200b Hello${hidden.join('')} 👩‍💻`;
      await writeFile(file('hidden.jsonl'), `${chat(turn('user', text), turn('assistant', 'ok'))}\n`);
      await preview.open('hidden.jsonl');
      const marks = preview.row(1).getByRole('img', { name: /^U\+/ });
      await marks.first().waitFor();
      const labels = (await marks.all()).map((mark) => mark.getAttribute('aria-label'));
      assert.deepEqual(await Promise.all(labels), [
        'U+202E',
        'U+202C',
        'U+200B',
        'U+E0069–U+E006C ×10 “ignore all”',
      ]);
      await preview.assertAccessible();
      await workbench.screenshot('preview-invisible');
      const copied: unknown = await preview.frame.locator('html').evaluate(`(() => {
        getSelection().selectAllChildren(document.querySelector('.turn .text'));
        return getSelection().toString();
      })()`);
      assert.equal(copied, text);
    });
  });

  describe('by keyboard', () => {
    after(() => workbench.editors.closeAll());

    it('reaches the rows, moves through them, and shows one as raw text', async () => {
      await preview.open('train.jsonl');
      await preview.waitForStatus('7,473 rows');
      await preview.row(1).waitFor();
      const { keyboard } = workbench.page;
      await preview.search.focus();
      const isOnRow = async () => (await preview.focused().and(preview.rows).count()) === 1;
      for (let presses = 0; presses < 12 && !(await isOnRow()); presses++) await keyboard.press('Tab');
      assert.equal(await preview.focused().locator('h2').textContent(), 'Row 1');
      await keyboard.press('ArrowDown');
      await keyboard.press('ArrowDown');
      assert.equal(await preview.focused().locator('h2').textContent(), 'Row 3');
      await keyboard.press('PageDown');
      assert.notEqual(await preview.focused().locator('h2').textContent(), 'Row 3');
      await keyboard.press('End');
      await preview.waitUntilInView(7473);
      assert.equal(await preview.focused().locator('h2').textContent(), 'Row 7,473');
      await keyboard.press('ArrowUp');
      assert.equal(await preview.focused().locator('h2').textContent(), 'Row 7,472');
      await keyboard.press('Home');
      await preview.waitUntilInView(1);
      await preview.row(1).getByText('question', { exact: true }).waitFor();
      await keyboard.press('Enter');
      await preview.row(1).locator('.raw').waitFor();
      assert.match((await preview.row(1).locator('.raw').textContent()) ?? '', /^\{"question": "Natalia/);
      await keyboard.press('Enter');
      await preview.row(1).locator('.raw').waitFor({ state: 'detached' });
      await keyboard.press('Control+f');
      await preview.search.and(preview.focused()).waitFor();
    });

    it('goes to a row by its number, and focuses it', async () => {
      await preview.rowNumber.focus();
      await workbench.page.keyboard.type('5,000');
      await workbench.page.keyboard.press('Enter');
      await preview.waitUntilInView(5000);
      assert.equal(await preview.focused().locator('h2').textContent(), 'Row 5,000');
    });

    it('returns to its row after being hidden', async () => {
      await preview.search.fill('apples');
      await preview.waitForStatus(/of 7,473 rows/);
      // Going to a row that the filter hides clears the filter.
      await preview.goTo(5000);
      await preview.waitForStatus(/^7,473 rows/);
      await workbench.editors.openAsText(file('chat.jsonl'));
      await workbench.editors.waitForLine(chat(turn('user', 'Twice'), turn('assistant', 'the same')));
      await workbench.editors.tab('train.jsonl').click();
      await preview.waitUntilInView(5000);
      // Hide the preview again as soon as it has content.
      await workbench.editors.tab('chat.jsonl').click();
      await workbench.editors.tab('train.jsonl').click();
      await preview.frame.locator('.status').filter({ hasText: 'rows' }).waitFor();
      await workbench.editors.tab('chat.jsonl').click();
      await workbench.editors.tab('train.jsonl').click();
      await preview.waitUntilInView(5000);
    });

    it('scrolls with the wheel', async () => {
      await preview.goTo(100);
      await preview.frame.locator('.viewport').hover();
      for (let turns = 0; turns < 30; turns++) await workbench.page.mouse.wheel(0, 400);
      await preview.row(100).waitFor({ state: 'detached' });
      let first = 0;
      await until('rows are drawn', async () => {
        [first = 0] = await preview.rowNumbers();
        return first > 100;
      });
      assert.ok(first < 1_000, String(first));
      await workbench.screenshot('preview-fields');
    });
  });

  describe('is readable', () => {
    after(() => workbench.editors.closeAll());

    before(async () => {
      await preview.open('chat.jsonl');
      await preview.waitForVerdict(/1 error/);
      await preview.goTo(4);
    });

    for (const theme of ['light', 'high contrast', 'dark'] as const) {
      it(`in ${theme}, and accessible`, async () => {
        await workbench.setTheme(theme);
        await preview.assertAccessible();
        await workbench.screenshot(`preview-${theme.replace(' ', '-')}`);
      });
    }

    it('in a narrow editor', async () => {
      await workbench.resize(900, 700);
      await preview.button('Hide Details').click();
      await preview.button('Show Details').click();
      await workbench.screenshot('preview-narrow');
      await workbench.resize(1400, 900);
    });
  });

  describe('of an unusual file', () => {
    afterEach(() => workbench.editors.closeAll());

    it('shows that the file is empty', async () => {
      await preview.open('empty.jsonl');
      await preview.frame.getByText('empty.jsonl is empty.').waitFor();
      await workbench.screenshot('preview-empty');
    });

    it('shows a file with another extension', async () => {
      await preview.open('other.ndjson');
      await preview.row(1).getByText('another ending').waitFor();
    });

    it('says what its texts say, and shows the rows of a fact, also in 300 pixels', async () => {
      await preview.open('support.jsonl');
      await preview.waitForVerdict('12 rows of chat');
      const fact = (name: string) => preview.card.locator('dt', { hasText: name }).locator('+ dd');
      await fact('System message')
        .getByText('1 row without it; “You answer for the support.” in 11 rows')
        .waitFor();
      await fact('Refusals').getByText('2 answers begin like a refusal (16.7%)').waitFor();
      await fact('Conversations').getByText('1 exchange in 100%, longest 3 messages').waitFor();
      await fact('Writing')
        .getByText(/^\d+% Cyrillic$/)
        .waitFor();
      await workbench.screenshot('preview-content');
      await preview.assertAccessible();
      await preview.button('Show Rows: Refusals').click();
      await preview.waitForRows([5, 9]);
      await preview.waitForStatus('2 of 12 rows');
      await preview.button('Show Rows: No system message').click();
      await preview.waitForRows([3]);
      await preview.button('Show All Rows').click();
      await preview.waitForStatus('12 rows');
      await workbench.resize(660, 900);
      await workbench.setTheme('high contrast');
      await preview.assertAccessible();
      await workbench.screenshot('preview-content-narrow');
      await workbench.setTheme('dark');
      await workbench.resize(1400, 900);
    });

    it('shows that the file is UTF-16', async () => {
      await preview.open('utf16.jsonl');
      await preview.frame.locator('main', { hasText: 'The file is UTF-16, not UTF-8.' }).waitFor();
      await workbench.screenshot('preview-utf16');
    });

    it('shows that the file is a JSON array instead of its rows, and converts it', async () => {
      await preview.open('array.jsonl');
      await preview.frame.getByText('The file is a JSON array, not JSONL. Convert it to JSONL.').waitFor();
      assert.equal(await preview.rows.count(), 0);
      await preview.assertAccessible();
      await workbench.screenshot('preview-array');
      await preview.button('Convert to JSONL').click();
      await workbench.editors.activeTab('array.lines.jsonl').waitFor();
    });

    it('follows a changed file, and shows that a file was deleted', async () => {
      await preview.open('changing.jsonl');
      await preview.waitForStatus('2 rows');
      await writeFile(file('changing.jsonl'), '{"text":"one"}\n{"text":"two"}\n{"text":"three"}\n');
      await preview.waitForStatus('3 rows');
      await preview.row(3).getByText('three').waitFor();
      await preview.row(1).getByRole('button', { name: 'Open in Editor' }).click();
      await workbench.editors.waitForLine('{"text":"three"}');
      await workbench.editors.typeAtStart('x');
      await workbench.editors.titleAction('Preview Dataset').click();
      await preview.frame.getByText('changing.jsonl has unsaved changes, which are not shown.').waitFor();
      await preview.rows.first().waitFor();
      await rm(file('changing.jsonl'));
      await preview.frame.getByText(/changing\.jsonl no longer exists\./).waitFor();
      await workbench.screenshot('preview-gone');
      await preview.row(3).waitFor();
    });
  });

  describe('of 600 MB', () => {
    after(() => workbench.editors.closeAll());

    let rows = 0;

    before(async function () {
      const block: string[] = [];
      for (let bytes = 0; bytes < 4_000_000;) {
        const row = chat(
          turn('user', `Question ${block.length}: ${'why is the sky blue? '.repeat(20)}`),
          turn('assistant', `Answer ${block.length}: ${'because of the light. '.repeat(20)}`),
        );
        bytes += row.length + 1;
        block.push(row);
      }
      const text = Buffer.from(`${block.join('\n')}\n`);
      const big = await open(file('big.jsonl'), 'w');
      for (let written = 0; written + text.length < 600_000_000; written += text.length) {
        await big.writeFile(text);
        rows += block.length;
      }
      await big.writeFile(chat(turn('user', 'The last one?'), turn('assistant', 'Yes, the needle.')));
      rows += 1;
      await big.close();
    });

    it('shows the first rows, and scrolls to the last one', async () => {
      await preview.open('big.jsonl');
      await preview.row(1).getByText('Question 0').first().waitFor();
      await preview.waitForStatus(new RegExp(`^${rows.toLocaleString('en')} rows`));
      await preview.row(1).click();
      await workbench.page.keyboard.press('End');
      await preview.row(rows).getByText('Yes, the needle.').waitFor();
      await workbench.screenshot('preview-big-end');
    });

    it('scrolls by dragging the scrollbar to the middle', async () => {
      const bar = await preview.frame.locator('.scrollbar').boundingBox();
      assert.ok(bar);
      const { mouse } = workbench.page;
      // The thumb has its minimum size and is at the top.
      await mouse.move(bar.x + 5, bar.y + 15);
      await mouse.down();
      await mouse.move(bar.x + 5, bar.y + bar.height / 2, { steps: 20 });
      await mouse.up();
      await preview.rows.first().waitFor();
      await preview.frame.locator('article h2').first().waitFor();
      await until('the rows of the middle are shown', async () => {
        const [middle = 0] = await preview.rowNumbers();
        return middle > rows * 0.4 && middle < rows * 0.6;
      });
    });

    it('searches to the end, and pauses after each page of results', async () => {
      await preview.search.fill('THE NEEDLE');
      await preview.waitForStatus(new RegExp(`^1 of ${rows.toLocaleString('en')} rows$`));
      await preview.row(rows).waitFor();
      await preview.search.fill('question');
      await preview.waitForStatus(/^1,\d\d\d of .* \d+% searched$/);
      await preview.button('Continue Search').click();
      await preview.waitForStatus(/^2,\d\d\d of .* \d+% searched$/);
      await preview.search.fill('');
      await preview.waitForStatus(new RegExp(`^${rows.toLocaleString('en')} rows`));
    });

    it('shows the verdict of the check', async () => {
      await preview.waitForVerdict(/rows of chat/);
      await workbench.screenshot('preview-big');
    });
  });
});
