// A separate process that downloads an artifact as a VS Code window does and prints the result; its argument is a `DownloadTask`
// as JSON.
import { Client } from '../../src/core/api/client.ts';
import { Transport } from '../../src/core/api/transport.ts';
import { SYSTEM_CLOCK } from '../../src/core/base/clock.ts';
import { Downloads } from '../../src/core/downloads/downloads.ts';
import { Session } from '../../src/core/runs/session.ts';

export interface DownloadTask {
  url: string;
  runsFolder: string;
  target: string;
}

const { url, runsFolder, target } = JSON.parse(process.argv[2] ?? '') as DownloadTask;
const transport = new Transport({ strictSsl: true, systemCertificates: false, env: {} });
const session = new Session(
  { kind: 'service', id: 'account-1', name: 'account-1', baseUrl: url },
  () => Promise.resolve({ baseUrl: url, apiKey: 'service_k', keyId: 'key-1' }),
  (connection) => new Client(connection, () => transport),
);
const downloads = new Downloads({
  runsFolder,
  transport: () => transport,
  sessionOf: () => session,
  verify: () => Promise.resolve('unknown'),
  clock: SYSTEM_CLOCK,
});

async function run(): Promise<unknown> {
  process.stdout.write('\n'); // signals the start
  await downloads.open('account-1');
  try {
    const artifact = { type: 'model', filename: 'adapter.zip' };
    return await downloads.start({ session, runId: 'run-1', artifact, target });
  } catch (error) {
    return { code: (error as { code?: unknown }).code };
  } finally {
    await downloads.dispose();
    session.dispose();
    transport.dispose();
  }
}

void run().then((end) => process.stdout.write(JSON.stringify(end)));
