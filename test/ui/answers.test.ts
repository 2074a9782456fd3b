import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { assertAccessible } from './accessible.ts';
import { answers, AnswersPage } from './answersPage.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

/** 50 rows of a support bot, in which the adapter is mostly closer. */
const SUPPORT = Array.from({ length: 50 }, (_, index) => {
  const order = 1_000 + index * 37;
  const expected = `Your order ${order} left our warehouse on Monday. It arrives within three days; you can follow it in your account.`;
  const base = `Sure! I'd be happy to help. To find order ${order}, please open your account, choose Orders, and look for the number. If you can't find it, contact our support team.`;
  const near = `Your order ${order} left our warehouse on Tuesday. It arrives within three days; you can follow it in your account.`;
  if (index % 10 === 3) return answers(`Where is order ${order}?`, expected, near, base);
  if (index % 10 === 5) return answers(`Where is order ${order}?`, expected, base, expected);
  if (index % 10 === 7)
    return answers(
      `Where is order ${order}?`,
      expected,
      `<think>\nThe user asks for ${order}.\n</think>\n${base}`,
      near,
      {
        base_end: 'length',
      },
    );
  return answers(`You are the support bot of a shop.\nWhere is order ${order}?`, expected, base, near);
}).join('');

describe('comparison of answers', () => {
  let vscode: VSCode;
  let workbench: Workbench;
  let page: AnswersPage;

  const file = (name: string) => vscode.file(name);

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(file('train.answers.jsonl'), SUPPORT);
    workbench = await vscode.open();
    page = new AnswersPage(workbench);
  });

  after(() => vscode.close());

  it('opens the sample', async () => {
    await workbench.runCommand('Fine-Tuning: Open Sample Comparison');
    await page.title('sample.answers.jsonl · 20 rows').waitFor();
    await page.row(1).waitFor();
    console.log(await page.headline(), await page.said());
    await workbench.screenshot('answers-sample');
    assert.deepEqual((await readdir(vscode.folder)).sort(), ['train.answers.jsonl']);
    await page.button('Vote Blind').click();
    await page.waitForVote('1 of 20');
    await workbench.screenshot('answers-vote');
    await workbench.page.keyboard.press('e');
    await workbench.screenshot('answers-vote-expected');
    for (let at = 1; at <= 20; at++) {
      await workbench.page.keyboard.press('ArrowLeft');
      await (at < 20 ? page.waitForVote(`${at + 1} of 20`) : page.button('Show Rows').waitFor());
    }
    await workbench.screenshot('answers-vote-end');
    await page.button('Show Rows').click();
    await page.row(1).waitFor();
    await workbench.screenshot('answers-sample-voted');
    await assertAccessible(page.frame);
  });

  it('opens a file', async () => {
    await page.open('train.answers.jsonl');
    await page.row(1).waitFor();
    console.log(await page.headline(), await page.said());
    for (const theme of ['light', 'high contrast', 'dark'] as const) {
      await workbench.setTheme(theme);
      await page.row(1).waitFor();
      await assertAccessible(page.frame);
      await workbench.screenshot(`answers-${theme.replace(' ', '-')}`);
    }
    for (const [width, name] of [
      [950, '600'],
      [660, '300'],
    ] as const) {
      await workbench.page.setViewportSize({ width, height: 1_000 });
      await page.row(1).waitFor();
      await assertAccessible(page.frame);
      await workbench.screenshot(`answers-${name}`);
    }
  });
});
