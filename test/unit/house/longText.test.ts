import assert from 'node:assert/strict';
import ts from 'typescript';
import { safeParts } from '../../../src/core/adapters/archive/entryNames.ts';
import { readConfig } from '../../../src/core/adapters/peftConfig.ts';
import { printable } from '../../../src/core/adapters/printable.ts';
import { Problems } from '../../../src/core/adapters/problems.ts';
import { POWERSHELL, pythonString, SH } from '../../../src/core/adapters/shells.ts';
import { moduleScaling } from '../../../src/core/adapters/tensors.ts';
import { parseAddress } from '../../../src/core/api/address.ts';
import { toPlainLine } from '../../../src/core/base/plainText.ts';
import { resolveRoute } from '../../../src/core/api/proxy.ts';
import { parseRetryAfter } from '../../../src/core/api/answer.ts';
import { sanitizeText, sanitizeServiceText } from '../../../src/ui/shared/serviceText.ts';
import { runFolderName, numberedFileName, safeFileName } from '../../../src/core/downloads/downloadTarget.ts';
import { filterRuns } from '../../../src/core/runs/runFilter.ts';
import { hasMarker, withoutMarker } from '../../../src/core/runs/marker.ts';
import { standInForVscode } from '../../helpers/standInForVscode.ts';
import { at, readSources, walk } from './sources.ts';

// A linear function takes milliseconds; a quadratic one takes more than ten seconds.
const LONG = 100_000;
const MOST_MS = 1_000;

/** Characters and words that expressions repeat or stop at. */
const UNITS = ['.', ' ', '/', '\\', '-', ':', '"', 'a', '0', '\t', '\n', '\0', '[', '\u2028', '\ud800'];

/** Time of this process alone: other programs may need the machine at the same moment. */
function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

describe('untrusted text of 100,000 characters', () => {
  let splitInvisible: (text: string, marksLeft: number) => unknown;
  let redact: (text: string) => unknown;
  before(async () => {
    const hooks = standInForVscode();
    ({ redact } = await import('../../../src/ui/shared/log.ts'));
    hooks.deregister();
    // Of a page, whose types are the browser's.
    const file = new URL('../../../media/datasets/invisible.ts', import.meta.url).href;
    ({ splitInvisible } = (await import(file)) as { splitInvisible: typeof splitInvisible });
  });

  const settings = { strictSsl: true, systemCertificates: false, env: {} };
  const run = { run_id: 'r', status: 'x', model_id: 'm', artifacts_available: false };
  const filtered = (label: string) =>
    filterRuns(
      [run],
      { text: 'word', modelIds: [], phases: [] },
      { label: () => label, phase: () => 'active', modelName: (id) => id },
    );
  const functions: Readonly<Record<string, (text: string) => unknown>> = {
    safeFileName: (text) => safeFileName(text, 'adapter'),
    numberedFileName: (text) => numberedFileName(text, 2),
    runFolderName: (text) => runFolderName(text, 'run-1'),
    filterRuns: filtered,
    withoutMarker,
    hasMarker: (text) => hasMarker(text, 'ft-7k3m9qpx'),
    sanitizeServiceText: (text) => sanitizeServiceText(text),
    sanitizeText,
    splitInvisible: (text) => splitInvisible(text, 500),
    redact: (text) => redact(text),
    toPlainLine: (text) => toPlainLine(text, 300),
    parseRetryAfter: (text) => parseRetryAfter(text, 0),
    parseAddress: (text) => parseAddress(`https://a.test/${text}`),
    resolveRoute: (text) => resolveRoute(new URL('https://a.test'), { ...settings, noProxy: [text] }),
    printable,
    readConfig: (text) => readConfig(`{"r": NaN, "x": "${text}`, new Problems()),
    moduleScaling: (text) =>
      moduleScaling({ ...readConfig('{}', new Problems())!, rankPattern: { [text]: 1 } }),
    safeParts,
    posixWord: SH.quote,
    powershellWord: POWERSHELL.quote,
    pythonString,
  };

  for (const [name, work] of Object.entries(functions))
    it(`is no burden to ${name}`, () => {
      for (const unit of [
        ...UNITS,
        '\u0301\u0323',
        '\u200b',
        'x\u200b',
        '\u0915\u200d',
        '$(',
        '](',
        'bearer ',
        'http://',
        'ft-1',
        '::1',
      ])
        // The shorter one first, so that a quadratic function fails soon.
        for (const length of [LONG / 20, LONG]) {
          const text = `a${unit.repeat(length / unit.length)}\u2603`;
          const ms = cpuMs(() => {
            try {
              work(text);
            } catch (error) {
              // That it is refused is fine.
              assert.ok(!(error instanceof RangeError), String(error));
            }
          });
          assert.ok(ms < MOST_MS, `${length} of ${JSON.stringify(unit)}: ${ms} ms`);
        }
    }).timeout(120_000);
});

describe('regular expressions', () => {
  /** The last is long enough for a quadratic one to take half a second, where a linear one takes a millisecond. */
  const LENGTHS = [1_024, 8_192, 32_768];
  const TOO_LONG_MS = 150;

  it('never take time that grows with the square of the text', () => {
    const slow = readSources().flatMap((source) => {
      const found: string[] = [];
      walk(source.tree, (node) => {
        if (ts.isRegularExpressionLiteral(node) && isSlow(toRegExp(node.text)))
          found.push(`${at(source, node)} ${node.text}`);
      });
      return found;
    });
    assert.deepEqual(slow, []);
  }).timeout(120_000);

  it('are told apart', () => {
    assert.ok(isSlow(/[.\s]+$/u));
    assert.ok(!isSlow(/(?<![.\s])[.\s]+$/u));
  });

  function isSlow(expression: RegExp): boolean {
    const texts = LENGTHS.flatMap((length) =>
      UNITS.flatMap((unit) => ['a', '\u2603\n'].map((end) => `a${unit.repeat(length)}${end}`)),
    );
    return texts.some((text) => {
      const isLong = () => cpuMs(() => text.replace(expression, '')) > TOO_LONG_MS;
      // Once may be the compiler or the collector of garbage.
      return isLong() && isLong() && isLong();
    });
  }
});

function toRegExp(literal: string): RegExp {
  const end = literal.lastIndexOf('/');
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}
