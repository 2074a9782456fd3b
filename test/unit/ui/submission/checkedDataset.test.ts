import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stampOf } from '../../../../src/core/base/fileStamp.ts';
import { CheckError, type CheckFailure, type Report } from '../../../../src/core/datasets/report.ts';
import { groupOf, reportOf } from '../../../helpers/report.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import * as standIn from '../../../helpers/vscodeStandIn.ts';

const messages = await withVscode(() => import('../../../../src/ui/shared/datasetTexts.ts'));
const { chooseCheckedDataset } = await withVscode(
  () => import('../../../../src/ui/submission/checkedDataset.ts'),
);

const TEXT = '{"prompt":"a","completion":"b"}\n';
const ROW = [{ row: 1 }];
const clean = {};
const errors = { problems: [groupOf('bad-literal', ROW, 3)] };
const repairable = { problems: [groupOf('trailing-comma', ROW, 3)] };
const secret = { problems: [groupOf('blank-line', ROW), groupOf('private-key', ROW)] };
const address = { problems: [groupOf('email-address', ROW, 12), groupOf('card-number', ROW)] };

const of = (format: number, content = 0, answer = 0) => ({ format, content, answer, weight: 0 });

describe('chooseCheckedDataset', () => {
  let folder: string;
  let file: string;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'prepare-dataset-'));
    file = path.join(folder, 'rows.jsonl');
    await writeFile(file, TEXT);
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(() => standIn.forget());

  /** @param found the result of each check; the last one repeats. @param presses the buttons that are pressed */
  async function prepare(found: readonly (Partial<Report> | CheckFailure)[], ...presses: string[]) {
    standIn.forget();
    standIn.shown.answer = (buttons) => buttons.find((button) => presses.includes(button));
    const stamp = stampOf(await stat(file, { bigint: true }));
    let checks = 0;
    const prepared = await chooseCheckedDataset(standIn.Uri.file(file), undefined, {
      accountName: 'Work',
      reports: {
        markRequested: () => undefined,
        currentReport: () => {
          const next = found[Math.min(checks++, found.length - 1)]!;
          assert.ok(checks < 10, 'it never ends');
          if (typeof next === 'string') return Promise.reject(new CheckError(next));
          return Promise.resolve(reportOf({ ...stamp, ...next }));
        },
      },
      log: { error: () => undefined },
    });
    const [dataset, end] = 'outcome' in prepared ? [undefined, prepared] : [prepared, undefined];
    return {
      dataset,
      end,
      checks,
      sentences: [...standIn.shown.sentences],
      buttons: [...standIn.shown.buttons],
    };
  }
  const [problems, convert, anywayNext] = ['Show Problems', 'Convert to JSONL', 'Submit Anyway…'];

  it('accepts a dataset with at most warnings without asking', async () => {
    for (const found of [clean, address, { untrainable: of(9) }]) {
      const { dataset, sentences } = await prepare([found]);
      assert.deepEqual([dataset?.file.path, sentences], [file, []]);
    }
  });

  it('stops at errors, secrets, unchecked rows, and blank files; Enter shows the problems', async () => {
    for (const [found, why, offered = []] of [
      [errors, '3 errors'],
      [secret, '1 secret', ['Prepare Copy…']],
      [{ problems: [groupOf('row-too-long', ROW)] }, '1 row too long to check'],
      [{ rows: 3, blankRows: 3 }, 'it has only blank rows'],
      [{ rows: 152, blankRows: 2, untrainable: of(150) }, 'none of the 150 rows has a known training format'],
      [{ rows: 150, untrainable: of(149, 0, 1) }, 'no row can be used for training'],
      [{ rows: 1, untrainable: of(1) }, 'no row can be used for training'],
      [
        { rows: 1, untrainable: of(1), ...secret },
        '1 secret, no row can be used for training',
        ['Prepare Copy…'],
      ],
      [{ rows: 9, errorRows: 3, untrainable: of(6), ...errors }, '3 errors, no row can be used for training'],
      [{ rows: 3, errorRows: 3, ...repairable }, '3 errors', ['Prepare Copy…']],
    ] as const) {
      const { end, sentences, buttons } = await prepare([found]);
      assert.deepEqual(
        [end, sentences, buttons],
        [
          { outcome: 'cancelled' },
          [`rows.jsonl isn’t ready to submit: ${why}.`],
          [[problems, ...offered, anywayNext]],
        ],
      );
      assert.deepEqual(standIn.shown.isModal, [true]);
    }
    await prepare([errors], problems);
    assert.deepEqual(
      standIn.executed.map(([command]) => command),
      ['fineTuning.showDatasetProblems'],
    );
    const once = await prepare([errors], anywayNext);
    assert.deepEqual(
      [once.end, once.buttons.at(-1)],
      [{ outcome: 'cancelled' }, [problems, 'Submit Anyway']],
    );
    assert.equal((await prepare([errors], anywayNext, 'Submit Anyway')).dataset?.file.path, file);
  });

  it('offers only to compare answers', async () => {
    const compare = 'Compare Answers';
    const { end, sentences, buttons } = await prepare([{ kind: 'answers' }], compare, anywayNext);
    assert.deepEqual(
      [end, sentences, buttons],
      [
        { outcome: 'cancelled' },
        ['rows.jsonl isn’t ready to submit: a list of answers, not a dataset.'],
        [[compare]],
      ],
    );
    assert.deepEqual(
      standIn.executed.map(([command]) => command),
      ['fineTuning.compareAnswers'],
    );
  });

  it('offers first to convert what can be converted', async () => {
    for (const [kind, why] of [
      ['utf-16', 'UTF-16, not UTF-8'],
      ['requests', 'API requests or responses, not a dataset'],
      ['json-array'],
      ['pretty-json'],
      ['csv'],
    ] as const) {
      standIn.executed.length = 0;
      const { dataset, sentences, buttons } = await prepare([{ kind }], convert);
      assert.deepEqual([dataset, buttons], [undefined, [[convert, problems, anywayNext]]], kind);
      if (why !== undefined) assert.deepEqual(sentences, [`rows.jsonl isn’t ready to submit: ${why}.`]);
      assert.deepEqual(
        standIn.executed.map(([command]) => command),
        ['fineTuning.convertToJsonl'],
      );
    }
  });

  it('requires a verdict, unless the check itself crashed and the user confirms twice', async () => {
    const [again, next, unchecked] = ['Check Again', 'Submit Without Checking…', 'Submit Without Checking'];
    const missing = await prepare(['missing']);
    assert.deepEqual([missing.dataset, missing.buttons], [undefined, [[]]]);
    assert.deepEqual((await prepare(['unreadable'], unchecked)).buttons, [[again]]);
    const repeated = await prepare(['changing', 'changing', clean], again, unchecked);
    assert.deepEqual([repeated.dataset?.file.path, repeated.checks], [file, 3]);
    const once = await prepare(['worker-died'], next);
    assert.deepEqual(
      [once.dataset, once.buttons],
      [
        undefined,
        [
          [again, next],
          [again, unchecked],
        ],
      ],
    );
    const twice = await prepare(['worker-died'], next, unchecked);
    assert.equal(twice.dataset?.check, 'unchecked');
  });

  it('refuses a file that changes during every check', async () => {
    for (const other of [{ sizeBytes: 1 }, { mtimeMs: 1 }, { ctimeMs: 1 }]) {
      const { end, checks, sentences } = await prepare([other]);
      assert.deepEqual([end, checks], [{ outcome: 'failed' }, 3]);
      assert.deepEqual(sentences, [messages.failureSentence('rows.jsonl', 'changing')]);
    }
  });

  it('describes a dataset with exact counts', () => {
    const line = (report: Partial<Report>) => messages.verdictLine(reportOf(report));
    assert.equal(
      line({ rows: 1, problems: [groupOf('crlf', ROW), groupOf('bad-number', ROW)] }),
      '1 row · chat · 1 error · 1 warning',
    );
    const warnings = [groupOf('blank-line', ROW, 1_200)];
    const many = reportOf({ rows: 7_473, format: 'question-answer', problems: warnings });
    assert.equal(messages.verdictLine(many), '7,473 rows · question/answer · 1,200 warnings');
    assert.equal(messages.verdictPhrase(many), '7,473 rows of question/answer, 1,200 warnings');
    assert.equal(line({ format: undefined }), '10 rows · no problems');
    const { formats } = reportOf({});
    for (const [chat, isMixed] of [
      [4, true],
      [5, false],
    ] as const) {
      const three = reportOf({ formats: { ...formats, chat, instruction: 3, text: 10 - chat - 3 } });
      const expected = ['10 rows · 3 formats · no problems', '10 rows in 3 formats, no problems'];
      const chats = ['10 rows · chat · no problems', '10 rows of chat, no problems'];
      assert.deepEqual(
        [messages.verdictLine(three), messages.verdictPhrase(three)],
        isMixed ? expected : chats,
      );
    }
    assert.deepEqual(
      [messages.sizePhrase(599_999_999), typeof messages.sizePhrase(600_000_000)],
      [undefined, 'string'],
    );
  });
});
