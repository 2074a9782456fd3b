import assert from 'node:assert/strict';
import ts from 'typescript';
import { at, readSources, walk } from './sources.ts';

/** Characters that regular expressions repeat or stop at. */
const UNITS = ['.', ' ', '/', '\\', '-', ':', '"', 'a', '0', '\t', '\n', '\0', '[', '\u2028', '\ud800'];

/** CPU time of this process, because other programs may use the machine meanwhile. */
function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

describe('regular expressions', () => {
  /** For the longest text a quadratic expression needs half a second, a linear one a millisecond. */
  const LENGTHS = [1_024, 8_192, 32_768];
  const TOO_LONG_MS = 150;

  it('never take quadratic or exponential time', () => {
    const slow = readSources().flatMap((source) => {
      const found: string[] = [];
      walk(source.tree, (node) => {
        if (ts.isRegularExpressionLiteral(node) && isSlow(toRegExp(node.text)))
          found.push(`${at(source, node)} ${node.text}`);
      });
      return found;
    });
    assert.deepEqual(slow, []);
  });

  it('are recognized as quadratic or exponential, or not', () => {
    const text = `a${'.'.repeat(24_576)}a`;
    assert.ok(isSlow(/[.\s]+$/u, [text]));
    assert.ok(!isSlow(/(?<![.\s])[.\s]+$/u, [text]));
    assert.ok(isSlow(/(?:\.(?:base|saved_as(?:\.[^.]+)?))+$/));
  });

  const TEXTS = LENGTHS.flatMap((length) =>
    UNITS.flatMap((unit) => ['a', '\u2603\n'].map((end) => `a${unit.repeat(length)}${end}`)),
  );

  function isSlow(expression: RegExp, texts = [...repeatedWords(expression), ...TEXTS]): boolean {
    return texts.some((text) => {
      const isLong = () => cpuMs(() => text.replace(expression, '')) > TOO_LONG_MS;
      // A single slow call may be due to compilation or garbage collection.
      return isLong() && isLong() && isLong();
    });
  }
});

/** Texts that repeat a word of an expression. One that may read each word in two ways needs half a second for it. */
function repeatedWords({ source }: RegExp): string[] {
  const words = new Set(source.match(/\w{2,}/g));
  return [...words].flatMap((word) =>
    ['', '.', ' ', '/'].flatMap((joint) =>
      ['a', '\u2603\n', `${joint}a${joint}a`].map((end) => `a${`${joint}${word}`.repeat(32)}${end}`),
    ),
  );
}

function toRegExp(literal: string): RegExp {
  const end = literal.lastIndexOf('/');
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}
