import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const folder = new URL('../golden/', import.meta.url);

/** The lines that the user sees in a case; undefined ones are left out. */
export type Shown = string | undefined | readonly (string | undefined)[];

/** A message to a page, or a part of it, behind the lines of a golden text. */
export interface Pictured {
  page: 'adapter' | 'answers' | 'preview' | 'run';
  message: { type: string };
}

const messages = new WeakMap<object, Pictured>();
/** The messages behind the golden texts so far, by file and case: the gallery shows them. */
export const pictures = new Map<string, Pictured>();

/** Records the message of a page that lines are about. @returns the lines */
export function pictured<Lines extends object>(
  page: Pictured['page'],
  message: Pictured['message'],
  lines: Lines,
): Lines {
  messages.set(lines, { page, message });
  return lines;
}

/**
 * Compares the lines that the user sees in each case with `test/golden/<name>.txt`. With `GOLDEN=write` in the environment,
 * writes the file instead. Read its diff like code.
 */
export function golden(name: string, cases: Readonly<Record<string, Shown>>): void {
  for (const [title, shown] of Object.entries(cases)) {
    const message = typeof shown === 'object' ? messages.get(shown) : undefined;
    if (message !== undefined) pictures.set(`${name}: ${title}`, message);
  }
  const text = Object.entries(cases)
    .map(([title, shown]) => `${caseText(visible(title), shown)}\n`)
    .join('');
  const file = new URL(`${name}.txt`, folder);
  if (process.env['GOLDEN'] === 'write') {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, text);
    return;
  }
  assert.ok(existsSync(file), `test/golden/${name}.txt is missing. GOLDEN=write writes it.`);
  // Git may have written other line ends.
  const expected = readFileSync(file, 'utf8').replaceAll('\r\n', '\n');
  assert.equal(
    text,
    expected,
    `test/golden/${name}.txt differs. If that is right, GOLDEN=write rewrites it.`,
  );
}

/** The lines that only one of two texts has, for a case that differs little from another. */
export function changedLines(lines: readonly string[], from: readonly string[]): string[] {
  const [now, before] = [new Set(lines), new Set(from)];
  const changed = [
    ...from.filter((line) => !now.has(line)).map((line) => `- ${line}`),
    ...lines.filter((line) => !before.has(line)).map((line) => `+ ${line}`),
  ];
  const message = messages.get(lines);
  return message === undefined ? changed : pictured(message.page, message.message, changed);
}

/** A button of a page. */
export function buttonText(button: {
  words: string;
  action: string;
  target: string;
  label?: string | undefined;
  isDisabled?: boolean | undefined;
}): string {
  const { words, action, target, label = words, isDisabled = false } = button;
  return `[${label} → ${isDisabled ? 'disabled' : `${action} ${target}`.trim()}]`;
}

function caseText(title: string, shown: Shown): string {
  const lines = [shown ?? 'nothing']
    .flat()
    .flatMap((one) => (one === undefined ? [] : visible(one).split('\n')));
  const [first = 'nothing', ...more] = lines;
  return more.length === 0
    ? `${title}: ${first}`
    : [title, ...lines.map((line) => `  ${line}`.trimEnd())].join('\n');
}

/** Names the characters that a diff would hide; the space in a time differs between versions of ICU. */
function visible(text: string): string {
  return text
    .replace(/[\u00a0\u202f]/g, ' ')
    .replace(/[^\P{C}\n]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16) ?? ''}}`);
}
