// A second window: a process of its own with a sandbox on the directory of its argument, from the first line of its input to
// the end of it.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { startSandbox } from '../../../src/sandbox/sandbox.ts';

const input = createInterface(process.stdin);
process.stdout.write('ready\n');
await once(input, 'line');
const sandbox = await startSandbox({ directory: process.argv[2] ?? '' });
const { accountId, baseUrl, apiKey } = sandbox;
process.stdout.write(`${JSON.stringify({ accountId, baseUrl, apiKey })}\n`);
input.once('close', () => void sandbox.close());
