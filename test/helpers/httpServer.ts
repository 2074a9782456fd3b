import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';

/** A local server; `close` also closes its connections. */
export interface TestServer {
  port: number;
  /** `http://127.0.0.1:port`, or https with a certificate. */
  url: string;
  close(): Promise<void>;
}

const tlsFixture = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url));

/** The certificate authority of `startHttpsServer`, as a file for SSL_CERT_FILE. */
export const AUTHORITY_FILE = fileURLToPath(new URL('../fixtures/tls/authority.pem', import.meta.url));

export function startHttpServer(listener: http.RequestListener): Promise<TestServer> {
  return listening(http.createServer(listener), 'http');
}

/** Starts a server with a certificate for service.test, storage.test, localhost, and 127.0.0.1. */
export function startHttpsServer(listener: http.RequestListener): Promise<TestServer> {
  return listening(https.createServer(serverCertificate(), listener), 'https');
}

export function serverCertificate(): { cert: Buffer; key: Buffer } {
  return { cert: tlsFixture('server.pem'), key: tlsFixture('server.key.pem') };
}

/** Starts a TCP server, for responses that no HTTP server would send. */
export function startRawServer(listener: (socket: Socket) => void): Promise<TestServer> {
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    listener(socket);
  });
  return listening(server, 'http');
}

export async function listening(server: net.Server, protocol: 'http' | 'https'): Promise<TestServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${protocol}://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

export async function bodyOf(request: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export function sendJson(
  response: http.ServerResponse,
  status: number,
  value: unknown,
  headers: http.OutgoingHttpHeaders = {},
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}
