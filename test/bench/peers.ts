// Programs that people have at hand to read JSON Lines with.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A program beside which the check is measured; its command may be missing. */
export interface Peer {
  name: string;
  command: string;
  argsFor: (file: string) => readonly string[];
}

const PYTHON_ROWS = 'import json, sys\nfor row in open(sys.argv[1], "rb"): json.loads(row)';

/** The programs, with their versions where they are installed. */
export async function findPeers(): Promise<Peer[]> {
  const jq = await answer('jq', '--version');
  // Its own path: what is called python3 may be a script that looks for it.
  const python = await answer('python3', '-c', 'import sys; print(sys.version.split()[0], sys.executable)');
  const [version = '', ...executable] = python.split(' ');
  return [
    {
      name: `\`jq -c .\` ${jq.replace('jq-', '')}`.trim(),
      command: 'jq',
      argsFor: (file) => ['-c', '.', file],
    },
    {
      name: `\`python3\` json ${version}`.trim(),
      command: executable.join(' ') || 'python3',
      argsFor: (file) => ['-c', PYTHON_ROWS, file],
    },
  ];
}

async function answer(command: string, ...args: string[]): Promise<string> {
  try {
    return (await promisify(execFile)(command, args)).stdout.trim();
  } catch {
    return '';
  }
}
