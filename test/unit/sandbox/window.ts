// A second window: a process of its own with a sandbox on the directory of its argument, until its input ends.
import { startSandbox } from '../../../src/sandbox/sandbox.ts';

const sandbox = await startSandbox({ directory: process.argv[2] ?? '' });
const { accountId, baseUrl, apiKey } = sandbox;
process.stdout.write(`${JSON.stringify({ accountId, baseUrl, apiKey })}\n`);
process.stdin.resume().once('end', () => void sandbox.close());
