import type { Session } from './session.ts';

/** What the service's clock says now, in milliseconds since the epoch; this machine's where no answer has told it yet. */
export function serviceNowMs({ clockSkewMs }: Pick<Session, 'clockSkewMs'>): number {
  return Date.now() + (clockSkewMs ?? 0);
}
