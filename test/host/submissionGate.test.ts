import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { CheckFailure } from '../../src/core/datasets/errors.ts';
import { summaryOf, type Summary } from '../../src/core/datasets/summary.ts';
import { passGate } from '../../src/ui/submission/submissionGate.ts';
import {
  checkRows,
  failureSentence,
  moreSentence,
  verdictLine,
  verdictPhrase,
  verdictSentence,
} from '../../src/ui/datasets/messages.ts';
import { groupOf, reportOf } from '../helpers/report.ts';
import { messagesOf, type Message } from './messages.ts';

const ROW = [{ row: 1 }];
const clean = summaryOf(reportOf());
const errors = summaryOf(reportOf({ problems: [groupOf('trailing-comma', ROW, 3)] }));
const secret = summaryOf(reportOf({ problems: [groupOf('blank-line', ROW), groupOf('private-key', ROW)] }));
const address = summaryOf(
  reportOf({ problems: [groupOf('email-address', ROW, 12), groupOf('card-number', ROW)] }),
);

describe('the gate before the steps of a submission', () => {
  const uri = vscode.Uri.file('/data/rows.jsonl');

  /** What came of it and what was asked. Checks that come after the last one of the list give the last one again. */
  async function gate(
    found: readonly (Summary | CheckFailure)[],
    ...answers: string[]
  ): Promise<{ passed: unknown; messages: Message[]; checks: number }> {
    let passed: unknown;
    let checks = 0;
    const messages = await messagesOf(async () => {
      passed = await passGate(uri, 'Work', () => {
        const next = found[Math.min(checks, found.length - 1)];
        checks += 1;
        assert.ok(next !== undefined && checks < 10);
        return Promise.resolve(next);
      });
    }, answers);
    return { passed, messages, checks };
  }

  it('lets pass what has warnings at most, without a word', async () => {
    for (const summary of [clean, address])
      assert.deepEqual(await gate([summary]), { passed: summary, messages: [], checks: 1 });
  });

  it('stops at errors and at secrets', async () => {
    for (const [summary, found] of [
      [errors, '3 errors'],
      [secret, '1 secret'],
    ] as const)
      assert.deepEqual(await gate([summary]), {
        passed: undefined,
        messages: [
          {
            text: `rows.jsonl is not ready to be submitted: ${found}.`,
            buttons: ['Show Problems', 'Submit Anyway…'],
          },
        ],
        checks: 1,
      });
  });

  it('asks once more before it lets them pass, and Enter declines both times', async () => {
    const once = await gate([errors], 'Submit Anyway…');
    assert.equal(once.passed, undefined);
    assert.deepEqual(once.messages[1], {
      text: 'Go on with rows.jsonl as it is?',
      buttons: ['Show Problems', 'Go On as It Is'],
    });
    assert.equal((await gate([errors], 'Submit Anyway…', 'Go On as It Is')).passed, errors);
  });

  it('stops at rows that were not searched for secrets, and at a file of blank rows', async () => {
    const long = await gate([summaryOf(reportOf({ problems: [groupOf('row-too-long', ROW)] }))]);
    assert.equal(long.passed, undefined);
    assert.match(long.messages[0]?.text ?? '', /: 1 row too long to be checked\.$/);
    const blank = await gate([summaryOf(reportOf({ rows: 3, blankRows: 3 }))]);
    assert.match(blank.messages[0]?.text ?? '', /: it has only blank rows\.$/);
  });

  it('never lets pass by an answer to the second question alone', async () => {
    assert.equal((await gate([errors], 'Go On as It Is')).passed, undefined);
  });

  it('offers to turn an array into lines', async () => {
    const { messages } = await gate([summaryOf(reportOf({ kind: 'json-array' }))]);
    assert.deepEqual(messages[0]?.buttons, ['Show Problems', 'Turn into Lines', 'Submit Anyway…']);
    const utf16 = await gate([summaryOf(reportOf({ kind: 'utf-16' }))]);
    assert.deepEqual(utf16.messages[0]?.buttons, ['Show Problems', 'Submit Anyway…']);
  });

  it('needs a verdict, but for a check that cannot be done', async () => {
    assert.deepEqual(await gate(['missing']), {
      passed: undefined,
      messages: [{ text: failureSentence('rows.jsonl', 'missing'), buttons: [] }],
      checks: 1,
    });
    assert.deepEqual((await gate(['unreadable'])).messages[0]?.buttons, ['Check Again']);
    const again = await gate(['changing', 'changing', clean], 'Check Again', 'Go On Unchecked');
    assert.deepEqual([again.passed, again.checks], [clean, 3]);
    const once = await gate(['worker-died'], 'Go On Unchecked…');
    assert.deepEqual(once.messages[0]?.buttons, ['Check Again', 'Go On Unchecked…']);
    assert.equal(once.messages[1]?.text, 'Go on with rows.jsonl unchecked?');
    assert.equal(once.passed, undefined);
    const twice = await gate(['worker-died'], 'Go On Unchecked…', 'Go On Unchecked');
    assert.equal(twice.passed, 'unchecked');
    assert.equal((await gate(['worker-died', clean], 'Go On Unchecked…', 'Check Again')).passed, clean);
  });
});

describe('verdicts in words', () => {
  it('count one as one and many with their digits grouped', () => {
    const one = summaryOf(
      reportOf({ rows: 1, problems: [groupOf('crlf', ROW), groupOf('bad-number', ROW)] }),
    );
    assert.equal(verdictLine(one), '1 row · chat · 1 error · 1 warning');
    const many = summaryOf(
      reportOf({ rows: 7_473, format: 'question-answer', problems: [groupOf('blank-line', ROW, 1_200)] }),
    );
    assert.equal(verdictLine(many), '7,473 rows · question/answer · 1,200 warnings');
    assert.equal(verdictPhrase(many), '7,473 rows of question/answer, 1,200 warnings');
    assert.equal(verdictPhrase(clean), '10 rows of chat, no problems found');
    assert.equal(verdictLine(summaryOf(reportOf({ format: undefined }))), '10 rows · no problems');
    assert.equal(moreSentence(200, 1, 0).slice(0, 12), '1 more error');
    assert.match(moreSentence(200, 1_000, 2), /^1,000 more errors and 2 more warnings: only 200 are listed/);
  });

  it('warn from 600,000,000 bytes on, which the service may take for more than 600 MB', () => {
    const sentence = (sizeBytes: number) => verdictSentence('a.jsonl', summaryOf(reportOf({ sizeBytes })));
    assert.equal(sentence(599_999_999), 'a.jsonl: 10 rows of chat, no problems found.');
    assert.match(sentence(600_000_000), /no problems found, close to “600 MB”: the service may refuse it\.$/);
  });

  it('stand in the summary of a submission, an estimate as one, and what may be private', () => {
    assert.deepEqual(
      checkRows(address).map(({ name, value }) => `${name}: ${value}`),
      [
        'Check: 10 rows of chat, 13 warnings',
        'Length: about 250 tokens (an estimate)',
        'Personal data: 12 e-mail addresses, 1 payment card number',
      ],
    );
    assert.deepEqual(
      checkRows('unchecked').map(({ value }) => value),
      ['not done: the check failed'],
    );
    assert.equal(checkRows(summaryOf(reportOf({ kind: 'binary' }))).length, 1);
  });
});
