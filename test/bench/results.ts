import { readFile, writeFile } from 'node:fs/promises';
import { arch, cpus, loadavg, release, totalmem, type } from 'node:os';
import { format } from 'prettier';

const FILE = new URL('RESULTS.md', import.meta.url);
const INTRODUCTION = `# Benchmarks

Written by \`npm run bench\`, which measures everything of a section side by side in one run. Compare the ratios: absolute times
are the machine's.`;

/** Measures one part, and replaces its section of RESULTS.md, or adds it. */
export async function writeSection(title: string, bench: () => Promise<string>): Promise<void> {
  const before = machine();
  const body = `${before}\n\n${await bench()}`;
  const old = await readFile(FILE, 'utf8').catch(() => '');
  const others = old
    .split(/^(?=## )/m)
    .slice(1)
    .filter((section) => !section.startsWith(`## ${title}\n`));
  const sections = [...others, `## ${title}\n\n${body}`].map((section) => section.trim());
  const text = [INTRODUCTION, ...sections.sort()].join('\n\n');
  await writeFile(FILE, await format(text, { parser: 'markdown' }));
}

/** What a section was measured on; no names of the machine or its people. */
function machine(): string {
  const [cpu] = cpus();
  const memoryGib = (totalmem() / 2 ** 30).toFixed(0);
  const system = `${type()} ${release().split('.', 2).join('.')}`;
  const load = loadavg()[0]?.toFixed(1) ?? '?';
  return [
    `${new Date().toISOString().slice(0, 10)}: ${cpu?.model ?? 'unknown processor'}, ${cpus().length} cores`,
    `${memoryGib} GiB of memory, ${system} (${arch()}), Node ${process.versions.node}`,
    `load before the run ${load}.`,
  ].join(', ');
}

/** A Markdown table; the first column is text and the others are numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** A row of a table of targets. */
export function atMost(what: string, limit: number, figure: number, digits: number): string[] {
  return [what, `≤ ${limit}`, figure.toFixed(digits), figure <= limit ? 'met' : 'missed'];
}

/** The middle of some figures; NaN of none. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

export function seconds(ms: number, digits = 2): string {
  return (ms / 1000).toFixed(digits);
}

export function megabytes(bytes: number, digits = 0): string {
  return Number.isNaN(bytes) ? 'not measured' : (bytes / 1e6).toFixed(digits);
}

/** Shows progress to whoever waits. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
