import assert from 'node:assert/strict';
import ts from 'typescript';
import { at, readSources, walk } from './sources.ts';

/** Characters and words that expressions repeat or stop at. */
const UNITS = ['.', ' ', '/', '\\', '-', ':', '"', 'a', '0', '\t', '\n', '\0', '[', '\u2028', '\ud800'];

/** Time of this process alone: other programs may need the machine at the same moment. */
function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

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
    const text = `a${'.'.repeat(24_576)}a`;
    assert.ok(isSlow(/[.\s]+$/u, [text]));
    assert.ok(!isSlow(/(?<![.\s])[.\s]+$/u, [text]));
  });

  const TEXTS = LENGTHS.flatMap((length) =>
    UNITS.flatMap((unit) => ['a', '\u2603\n'].map((end) => `a${unit.repeat(length)}${end}`)),
  );

  function isSlow(expression: RegExp, texts = TEXTS): boolean {
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
