import assert from 'node:assert/strict';
import { parseAmount, plainAmount } from '../../../../src/core/money/amount.ts';
import { sanitizeServiceText, sanitizeText } from '../../../../src/ui/shared/serviceText.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const notifications = await withVscode(() => import('../../../../src/ui/shared/notifications.ts'));
const format = await withVscode(() => import('../../../../src/ui/shared/format.ts'));

const HOSTILE = '[Continue](command:workbench.action.quit) $(check) \u202etxt';
const HARMLESS = '[Continue] (command:workbench.action.quit) $ (check) <U+202E>txt';

describe('Texts', () => {
  beforeEach(() => standIn.forget());

  describe('Amounts of money', () => {
    it('have two decimals, are rounded half away from zero, and never lose cents', () => {
      for (const [cents, text] of [
        [0, '0.00'],
        [-0, '0.00'],
        [1, '0.01'],
        [517, '5.17'],
        [100_000, '1,000.00'],
        [-5, '-0.05'],
        [-123_456, '-1,234.56'],
        [99.5, '1.00'],
        [-0.4, '0.00'],
        [-199.7, '-2.00'],
        [Number.MAX_SAFE_INTEGER, '90,071,992,547,409.91'],
        [1e21, '10,000,000,000,000,000,000.00'],
      ] as const)
        assert.equal(format.amountText(cents, 'en'), text);
      assert.equal(format.amountText(123_456, 'de'), '1.234,56');
      for (const cents of [NaN, Infinity, -Infinity]) assert.equal(format.amountText(cents, 'en'), undefined);
    });

    it('leave out decimals only if they are zero and the currency has none, so that none loses a cent', () => {
      for (const [cents, currency, text] of [
        [50_000, 'JPY', '500 JPY'],
        [12_345_600, 'KRW', '123,456 KRW'],
        [-50_000, 'JPY', '-500 JPY'],
        [0, 'JPY', '0 JPY'],
        [50_050, 'JPY', '500.50 JPY'],
        [50_000, 'USD', '500.00 USD'],
        [50_000, 'HUF', '500.00 HUF'],
        [50_000, 'JPYX', '500.00 JPYX'],
      ] as const)
        assert.equal(format.formatMoney(cents, currency), text);
      assert.equal(format.formatAmount(50_000, 'JPY'), '500');
      for (const currency of ['USD', 'JPY'])
        for (const cents of [0, 1, 99, 100, 50_000, 123_456_789])
          assert.equal(parseAmount(plainAmount(cents, currency)), cents);
    });

    it('show the currency code as received, with hidden characters made visible', () => {
      assert.equal(format.formatMoney(517, 'USD'), '5.17 USD');
      assert.equal(format.formatMoney(517), '5.17');
      assert.equal(format.formatMoney(NaN, 'USD'), 'unknown');
      assert.equal(format.formatMoney(1, '\u202eU'), '0.01 <U+202E>U');
      assert.equal(format.formatMoney(100_000, '€'), '1,000.00 €');
    });
  });

  it('have percents in the style of the language, which round to 0 or 100 only if exact', () => {
    const shares = [0, 0.0004, 0.0946, 0.81, 0.9996, 1];
    const cases = {
      en: ['0%', '< 0.1%', '9.5%', '81%', '> 99.9%', '100%', '1 (33.3%)'],
      de: ['0 %', '< 0,1 %', '9,5 %', '81 %', '> 99,9 %', '100 %', '1 (33,3 %)'],
    };
    for (const [language, expected] of Object.entries(cases)) {
      standIn.env.language = language;
      const shown = [...shares.map(format.formatPercent), format.formatShare(1, 3)];
      standIn.env.language = 'en';
      assert.deepEqual(
        shown.map((text) => text.replaceAll('\u00a0', ' ')),
        expected,
      );
    }
  });

  it('break no line before AM or PM', () => {
    assert.match(format.formatTime(0), /\d[\u00a0\u202f][AP]M$/);
  });

  describe('Untrusted texts', () => {
    it('become one line without links and icons, in which hidden characters are named', () => {
      assert.equal(sanitizeServiceText(' [x](command:y)\r\n\t$(check)  z '), '[x] (command:y) $ (check) z');
      for (const [hidden, shown] of [
        ['\u0000', '<U+0000>'],
        ['\u0085', '<U+0085>'],
        ['\u00ad', '<U+00AD>'],
        ['\u200d', '<U+200D>'],
        ['\u202e', '<U+202E>'],
        ['\u3164', '<U+3164>'],
        ['\ufe0f', '<U+FE0F>'],
        ['\ud800', '<U+D800>'],
        ['\u{e0041}\u{e0042}', '<U+E0041><U+E0042>'],
        ['\u{e0100}', '<U+E0100>'],
      ] as const)
        assert.equal(sanitizeServiceText(`a${hidden}b`), `a${shown}b`);
    });

    it('keep invisible characters that belong to an emoji or to letters', () => {
      for (const text of ['👩‍👩‍👧‍👦', '👩🏽‍🚀', '❤️', '1️⃣', 'می‌خواهم', 'क्‍ष', '芽\ufe00', 'e\u0301'])
        assert.equal(sanitizeServiceText(text), text);
    });

    it('are truncated in the middle, between characters', () => {
      assert.equal(sanitizeServiceText(`${'a'.repeat(100)}.jsonl`, 20), `${'a'.repeat(10)}…aaa.jsonl`);
      assert.equal(sanitizeServiceText('👩‍👩‍👧‍👦'.repeat(10), 30), '👩‍👩‍👧‍👦…👩‍👩‍👧‍👦');
      assert.equal(sanitizeServiceText('x'.repeat(60)), 'x'.repeat(60));
      assert.equal(sanitizeServiceText('x'.repeat(61)).length, 60);
    });

    it('do not change when sanitized again', () => {
      for (const text of [HOSTILE, 'x'.repeat(100)])
        assert.equal(sanitizeServiceText(sanitizeServiceText(text)), sanitizeServiceText(text));
    });

    it('keep their line breaks in sanitizeText', () =>
      assert.equal(sanitizeText('Account: a\u200b\n$(b)'), 'Account: a<U+200B>\n$ (b)'));
  });

  describe('Notifications, message boxes, and progress', () => {
    it('show no links, icons, or hidden characters', async () => {
      const { showError, showInformation, showWarning, withCancellableProgress, withProgress } =
        notifications;
      for (const show of [showInformation, showWarning, showError]) {
        standIn.forget();
        void show(HOSTILE, 'Show');
        void show(HOSTILE, { modal: true, detail: `${HOSTILE}\n${HOSTILE}` }, 'Show');
        const { sentences, details, buttons, isModal } = standIn.shown;
        assert.deepEqual([sentences, details], [[HARMLESS, HARMLESS], [`${HARMLESS}\n${HARMLESS}`]]);
        assert.deepEqual(
          [buttons, isModal],
          [
            [['Show'], ['Show']],
            [false, true],
          ],
        );
      }
      const options = { location: { viewId: 'x' }, title: HOSTILE };
      assert.equal(await withProgress(options, () => Promise.resolve(7)), 7);
      await withCancellableProgress(HOSTILE, (_, report) => {
        report(HOSTILE);
        return Promise.resolve();
      });
      const { titles, progress } = standIn.shown;
      assert.deepEqual([titles, progress], [[HARMLESS, HARMLESS], [HARMLESS]]);
    });

    it('resolve to the pressed button', async () => {
      standIn.shown.answer = (buttons) => buttons[1];
      assert.equal(await notifications.showWarning('x', 'A', 'B'), 'B');
    });

    it('show an Arabic date without direction marks', () => {
      const { formatDay, formatMoment, formatTime } = format;
      standIn.env.language = 'ar';
      try {
        const texts = [formatTime, formatDay, (ms: number) => formatMoment(ms, ms)].map((one) => one(0));
        for (const text of texts) void notifications.showInformation(text);
        assert.deepEqual(standIn.shown.sentences, texts);
      } finally {
        standIn.env.language = 'en';
      }
    });
  });
});
