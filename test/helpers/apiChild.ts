// A separate process for tests of process-wide state: certificates and globals. Started by `runChild`.
import { Client, type Connection } from '../../src/core/api/client.ts';
import { ApiError, NetworkError } from '../../src/core/api/errors.ts';
import { Transport, type ProxySettings } from '../../src/core/api/transport.ts';
import { SYSTEM_CLOCK } from '../../src/core/base/clock.ts';

export type ChildTask =
  | { kind: 'balance'; connection: Connection; settings: ProxySettings }
  | { kind: 'globals'; connection: Connection; fetchFirst: boolean };

const DIRECT: ProxySettings = { strictSsl: true, systemCertificates: true, env: {} };
const SLOTS = ['undici.globalDispatcher.1', 'undici.globalDispatcher.2'].map((name) => Symbol.for(name));

async function run(task: ChildTask): Promise<unknown> {
  const transport = new Transport(task.kind === 'balance' ? task.settings : DIRECT);
  const client = new Client(task.connection, () => transport, {
    clock: { ...SYSTEM_CLOCK, sleep: () => Promise.resolve() },
  });
  const slots = () => SLOTS.map((slot): unknown => Reflect.get(globalThis, slot));
  switch (task.kind) {
    case 'balance':
      try {
        return { balance: await client.getBalance() };
      } catch (error) {
        if (error instanceof NetworkError) return { reason: error.reason, causeCode: error.causeCode };
        return { code: error instanceof ApiError ? error.code : String(error) };
      }
    case 'globals': {
      if (task.fetchFirst) await (await fetch(task.connection.baseUrl)).text();
      const before = slots();
      await client.getBalance();
      const same = slots().every((value, index) => value === before[index]);
      return { same, filled: before.some((value) => value !== undefined) };
    }
  }
}

const result = await run(JSON.parse(String(process.argv[2])) as ChildTask);
process.stdout.write(JSON.stringify(result));
