import { randomBytes } from 'node:crypto';
import { API_KEY_PREFIX } from '../core/api/types.ts';
import { createControl, type SandboxControl } from './control.ts';
import { openDatabase } from './database.ts';
import { route } from './routes.ts';
import { EveryOther } from './scenarios.ts';
import { listen } from './server.ts';
import { Store } from './service.ts';

export interface SandboxOptions {
  /** The database lives here; several windows may share it. Made where it does not exist. */
  directory: string;
  /** Milliseconds since 1970; the clock of runs, signed addresses, Idempotency-Keys and the `Date` header. */
  now?: () => number;
  /** A free one by default. */
  port?: number;
  /** Gets lines for the log, without API keys, signed addresses or row texts. */
  log?: (line: string) => void;
}

/** The whole service on loopback, run by this process. Nothing is trained and no money is spent. */
export interface Sandbox {
  /** Lives in the database, so all windows see one account; survives `reset`. */
  readonly accountId: string;
  /** `http://127.0.0.1:<port>`, another one at each start. */
  readonly baseUrl: string;
  /** Created at each start and never on disk. */
  readonly apiKey: string;
  readonly control: SandboxControl;
  /** Ends the server and its connections at once, also those that wait for a slow answer. */
  close(): Promise<void>;
}

/** Opens the database and starts a server on it. @throws when the directory or the port cannot be used */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { directory, now = Date.now, port = 0, log = () => undefined } = options;
  const store = new Store(openDatabase(directory, log));
  try {
    const apiKey = `${API_KEY_PREFIX}sandbox_${randomBytes(24).toString('base64url')}`;
    const [everyOther, closing] = [new EveryOther(), new AbortController()];
    const service = { store, now, apiKey, baseUrl: '', everyOther, closing: closing.signal };
    const server = await listen({ port, now, log, answer: (request) => route(service, request) });
    service.baseUrl = server.baseUrl;
    return {
      accountId: store.account.account_id,
      baseUrl: server.baseUrl,
      apiKey,
      control: createControl(service),
      async close() {
        closing.abort();
        await server.close();
        store.close();
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}
