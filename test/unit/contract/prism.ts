import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A contract violation in a request or its response. */
export interface Violation {
  location: ['request' | 'response', ...string[]];
  message: string;
}

export interface Prism {
  baseUrl: string;
  close(): Promise<unknown>;
}

const CLI = fileURLToPath(import.meta.resolve('@stoplight/prism-cli'));
const OPENAPI = fileURLToPath(new URL('../../fixtures/openapi.yaml', import.meta.url));

/** Starts Prism as a proxy that adds the violations it finds to a server's responses. */
export async function startPrism(upstream: string): Promise<Prism> {
  const port = await freePort();
  const options = ['--host', '127.0.0.1', '--port', String(port)];
  const child = spawn(process.execPath, [CLI, 'proxy', OPENAPI, upstream, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = once(child, 'exit');
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      output += `${line}\n`;
      if (line.includes('Prism is listening')) resolve();
    });
    void exit.then(() => reject(new Error(`Prism did not start:\n${output}`)));
  });
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    close() {
      child.kill();
      return exit;
    },
  };
}

/** The violations that Prism added to a response. */
export function violations(headers: Headers): Violation[] {
  return JSON.parse(headers.get('sl-violations') ?? '[]') as Violation[];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
