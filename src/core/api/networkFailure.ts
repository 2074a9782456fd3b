import { NetworkError, type NetworkErrorReason } from './errors.ts';

const REASONS: Readonly<Record<string, NetworkErrorReason>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'dns',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'reset',
  // A chunked answer that ends early.
  HPE_INVALID_EOF_STATE: 'reset',
  ETIMEDOUT: 'connect-timeout',
  UND_ERR_CONNECT_TIMEOUT: 'connect-timeout',
  UND_ERR_PRX_TLS: 'tls',
  EPROTO: 'tls',
};

/** OpenSSL's verdicts on a certificate, as Node names them, and Node's own TLS errors. */
const TLS =
  /^(ERR_(TLS|SSL)_|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO_|CRL_|ERROR_IN_C|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_)/;

/**
 * Names why undici or Node gave up.
 * @param throughProxy whether it was still a proxy that was talked to: then only TLS and time have reasons of their own
 */
export function toNetworkError(error: unknown, throughProxy = false): NetworkError {
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const reason = code === undefined ? 'other' : reasonOf(code);
  if (!throughProxy || reason === 'tls' || reason === 'connect-timeout')
    return new NetworkError(reason, code);
  // undici tells the status of a refused CONNECT in its message only.
  const status = /^Proxy response \((\d{3})\)/.exec(error instanceof Error ? error.message : '')?.[1];
  return new NetworkError('proxy', status === undefined ? code : `HTTP_${status}`);
}

function reasonOf(code: string): NetworkErrorReason {
  if (code.startsWith('EAI_')) return 'dns';
  return TLS.test(code) ? 'tls' : (REASONS[code] ?? 'other');
}
