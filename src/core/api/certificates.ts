import tls from 'node:tls';

/**
 * The authorities to trust as one context, so that hundreds of certificates are parsed once and not at every
 * connection; undefined where Node's own list will do.
 */
export function trustedAuthorities(systemCertificates: boolean): tls.SecureContext | undefined {
  // The floor's Node has it; another host's may not.
  const list = (tls as Partial<typeof tls>).getCACertificates;
  if (!systemCertificates || list === undefined) return undefined;
  return tls.createSecureContext({ ca: [...new Set([...list('default'), ...list('system')])] });
}
