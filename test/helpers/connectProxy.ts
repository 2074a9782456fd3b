import http from 'node:http';
import https from 'node:https';
import net, { type Socket } from 'node:net';
import { listening, serverCertificate, type TestServer } from './httpServer.ts';

export interface ConnectProxy extends TestServer {
  /** Every CONNECT, in order. */
  readonly seen: { target: string; headers: http.IncomingHttpHeaders }[];
  /** Other requests, which the proxy could read in plain text. */
  readonly clear: string[];
}

/**
 * A CONNECT proxy that resolves every name to this machine, like a company's internal resolver.
 * @param options.authorization the required Proxy-Authorization
 * @param options.silent accepts a CONNECT and never responds
 */
export async function startConnectProxy(
  options: { authorization?: string; tls?: boolean; silent?: boolean; status?: number } = {},
): Promise<ConnectProxy> {
  const seen: ConnectProxy['seen'] = [];
  const clear: string[] = [];
  const server = options.tls ? https.createServer(serverCertificate()) : http.createServer();
  server.on('request', (request, response) => {
    clear.push(String(request.url));
    response.writeHead(400).end();
  });
  server.on('connect', (request: http.IncomingMessage, client: Socket) => {
    seen.push({ target: String(request.url), headers: request.headers });
    client.on('error', () => undefined);
    if (options.silent) return;
    if (options.status !== undefined) {
      client.end(`HTTP/1.1 ${options.status} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    if (
      options.authorization !== undefined &&
      request.headers['proxy-authorization'] !== options.authorization
    ) {
      client.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n',
      );
      return;
    }
    const target = net.connect(Number(String(request.url).split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    target.on('error', () => client.destroy());
    client.on('close', () => target.destroy());
  });
  return Object.assign(await listening(server, options.tls ? 'https' : 'http'), { seen, clear });
}
